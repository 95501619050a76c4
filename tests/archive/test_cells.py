"""Cells of descriptors: the tree gives what comparing all centroids gives, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from dcrl.archive.cells import LARGE, cell_of, compared


@pytest.mark.parametrize("size", [1, 2, 4, 9])
@pytest.mark.parametrize("cells", [64, 2048])
def test_the_tree_agrees_with_comparing_all(size, cells):
    random = np.random.default_rng(size * cells)
    count = LARGE // cells + 200
    centroids = random.uniform(size=(cells, size)).astype(np.float32)
    descriptor = random.uniform(size=(count, size)).astype(np.float32)
    np.testing.assert_array_equal(cell_of(centroids, descriptor), compared(centroids, descriptor))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_ties_go_to_the_lowest_cell(size):
    """Centroids on a coarse grid, many of them equal, and descriptors halfway between: ties of 2 to hundreds."""
    random = np.random.default_rng(size)
    centroids = (random.integers(0, 5, size=(512, size)) / 4).astype(np.float32)
    descriptor = (random.integers(0, 9, size=(LARGE // 512 + 500, size)) / 8).astype(np.float32)
    squared = np.square(descriptor[:, None].astype(float) - centroids[None].astype(float)).sum(axis=-1)
    assert ((squared == squared.min(axis=1, keepdims=True)).sum(axis=1) > 1).mean() > 0.5
    np.testing.assert_array_equal(cell_of(centroids, descriptor), squared.argmin(axis=1))


def test_descriptors_that_are_not_finite_do_not_fail():
    centroids = np.random.default_rng(0).uniform(size=(256, 2)).astype(np.float32)
    descriptor = np.full((LARGE // 256, 2), 0.5, np.float32)
    descriptor[3] = np.nan
    found = cell_of(centroids, descriptor)
    assert (np.delete(found, 3) == compared(centroids, descriptor[:1])).all()
