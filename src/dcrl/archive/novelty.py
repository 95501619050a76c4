"""Novelty: the distance of a descriptor from those seen before, and the memory of those.

A memory is an array (N, D), oldest first. Distances are in the descriptor's units.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from dcrl.types import Floats


def nearest(memory: Floats, points: Floats, neighbours: int) -> Floats:
    """(N, k) Euclidean distances of points (N, D) to their k = min(neighbours, size) nearest in the memory."""
    k = min(neighbours, len(memory))
    if not k:
        return np.zeros((len(points), 0))
    return np.asarray(cKDTree(memory).query(points, k=np.arange(1, k + 1))[0])


def novelty(memory: Floats, points: Floats, neighbours: int) -> Floats:
    """(N,) mean distance to the nearest neighbours; 0 while the memory is empty, NaN for a point that is not finite."""
    finite = np.isfinite(points).all(axis=1)
    found = np.full(len(points), np.nan)
    found[finite] = _mean(nearest(memory, points[finite], neighbours))
    return found


def diversity_reward(memory: Floats, states: Floats, neighbours: int) -> Floats:
    """(N,) mean squared distance of states to their nearest neighbours, as QD-PG rewards it; always finite."""
    return _mean(np.square(nearest(memory, states, neighbours))).astype(np.float32)


def offer(memory: Floats, states: Floats, threshold: float, capacity: int) -> Floats:
    """The memory after states (N, D) were offered to it in order.

    A state is added if it is further than `threshold` from every state in the memory, including those just
    added. The oldest are removed when there are more than `capacity`.
    """
    candidates = np.unique(states, axis=0, return_index=True)[1]
    left = states[np.sort(candidates)]
    if len(memory):
        left = left[nearest(memory, left, 1)[:, 0] > threshold]
    taken = []
    while len(left):
        taken.append(left[0])
        left = left[np.linalg.norm(left - left[0], axis=1) > threshold]
    return np.concatenate([memory, *(state[None] for state in taken)])[-capacity:].astype(np.float32)


def _mean(distances: Floats) -> Floats:
    return distances.mean(axis=1) if distances.shape[1] else np.zeros(len(distances))
