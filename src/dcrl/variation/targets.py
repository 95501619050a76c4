"""What a policy gradient is conditioned on: the parent's own descriptor, or one that the archive lacks near by."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.spatial import cKDTree

from dcrl.archive.archive import Archive
from dcrl.types import Floats, Ints

GradientTarget: TypeAlias = Literal["parent", "neighbour", "empty"]
NEIGHBOURS = 8  # cells around a parent's among which `neighbour` chooses


def gradient_targets(kind: GradientTarget, archive: Archive, cells: Ints) -> Floats:
    """(B, D) the target of each parent, given by its cell."""
    own: Floats = archive.descriptor[cells]
    if kind == "parent":
        return own
    return _weak_neighbour(archive, cells, own) if kind == "neighbour" else _nearest_empty(archive, own)


def _nearest_empty(archive: Archive, own: Floats) -> Floats:
    """The centroid of the empty cell nearest to the parent's descriptor; its own where no cell is empty."""
    empty = archive.centroids[~archive.occupied]
    if not len(empty):
        return own
    nearest: Floats = empty[cKDTree(empty).query(own)[1]]
    return nearest


def _weak_neighbour(archive: Archive, cells: Ints, own: Floats) -> Floats:
    """The centroid of the weakest cell next to the parent's, empty ones first, and of equally weak ones the nearest.

    The parent's own descriptor where none is weaker than the parent.
    """
    count = min(NEIGHBOURS + 1, len(archive.centroids))
    tree = cKDTree(archive.centroids)
    near = np.asarray(tree.query(archive.centroids[cells], k=np.arange(1, count + 1))[1])  # nearest first
    weakest = near[np.arange(len(cells)), np.argmin(archive.fitness[near], axis=1)]
    weaker = archive.fitness[weakest] < archive.fitness[cells]
    return np.where(weaker[:, None], archive.centroids[weakest], own)
