"""The cell of a descriptor: the nearest centroid, by comparing all of them or with a k-d tree.

Both give the same cells, ties included: the tree only narrows the choice, and the distances of the few centroids that
are left are computed and compared as those of all would be.
"""

from __future__ import annotations

import numpy as np

from dcrl.types import Floats, Ints

LARGE = 2**14  # pairs of descriptors and centroids from which a tree is faster
NEAREST = 4  # centroids that a tree proposes
ROUNDING = 1e-9  # more than two ways of computing a distance differ by, relatively


def cell_of(centroids: Floats, descriptor: Floats) -> Ints:
    """(B,) the nearest centroid's index, the lowest of equally near ones."""
    if len(descriptor) * len(centroids) < LARGE or len(centroids) <= NEAREST or not np.isfinite(descriptor).all():
        return compared(centroids, descriptor)
    from scipy.spatial import cKDTree  # here: archives are loaded without it

    tree = cKDTree(centroids.astype(np.float64))
    found = tree.query(descriptor.astype(np.float64), k=np.arange(1, NEAREST + 1))
    distance, proposed = (
        np.asarray(found[0]),
        np.sort(found[1], axis=1),
    )  # so that the first of equally near ones is the lowest
    squared = _squared(descriptor[:, None, :], centroids[proposed])
    cells: Ints = np.take_along_axis(proposed, np.argmin(squared, axis=1)[:, None], axis=1)[:, 0]
    unclear = np.flatnonzero(distance[:, -1] <= distance[:, 0] * (1 + ROUNDING) + np.finfo(np.float64).tiny)
    cells[unclear] = compared(centroids, descriptor[unclear])  # more are equally near than the tree proposed
    return cells


def compared(centroids: Floats, descriptor: Floats) -> Ints:
    """The same, with the distance of every pair."""
    nearest: Ints = np.argmin(_squared(descriptor[:, None, :], centroids[None]), axis=1)
    return nearest


def _squared(descriptor: Floats, centroids: Floats) -> Floats:
    squared: Floats = np.square(descriptor.astype(np.float64) - centroids.astype(np.float64)).sum(axis=-1)
    return squared
