"""Targets of policy gradients, on a line of cells whose answers can be read off."""

from __future__ import annotations

import dataclasses

import numpy as np

from dcrl.archive import archive as archives
from dcrl.variation.targets import NEIGHBOURS, gradient_targets

LINE = np.arange(20, dtype=np.float32)[:, None]  # centroids 0, 1, ..., 19
FITNESS = np.where(np.arange(20) % 2, 5.0, 3.0).astype(np.float32)  # odd cells are the stronger ones


def archive(*empty: int) -> archives.Archive:
    fitness, descriptor = FITNESS.copy(), LINE + 0.25
    fitness[list(empty)] = -np.inf
    descriptor[list(empty)] = np.nan
    return dataclasses.replace(archives.empty(LINE, 3), fitness=fitness, descriptor=descriptor.astype(np.float32))


def targets(kind, archive, *cells):
    return gradient_targets(kind, archive, np.array(cells)).ravel().tolist()


def test_parents_keep_their_own_descriptor():
    assert targets("parent", archive(3), 0, 7, 7) == [0.25, 7.25, 7.25]


def test_the_nearest_empty_cell():
    assert targets("empty", archive(3, 12), 0, 7, 8, 19) == [3, 3, 12, 12]  # 7.25 is nearer to 3, 8.25 to 12
    assert targets("empty", archive(), 0, 7) == [0.25, 7.25]  # no cell is empty


def test_the_weakest_neighbour():
    assert targets("neighbour", archive(9), 7) == [9]  # an empty cell is the weakest
    assert targets("neighbour", archive(19), 7) in ([6], [8])  # 19 is too far; these two are equally weak and near
    assert targets("neighbour", archive(), 8) == [8.25]  # no neighbour is weaker than an even cell
    far = 7 + NEIGHBOURS
    assert targets("neighbour", archive(far), 7) in ([6], [8])
