"""Descriptors of three or more dimensions in two: tiles along two, a small grid in each tile along the next two."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from dcrl.archive.cells import cell_of
from dcrl.types import Descriptor, Floats, Ints

MOST = 5  # bins per dimension; more would be too small to see
FILLED = 0.86  # of a tile's side; the rest is the gap to the next tile


def across(dimensions: int, cells: int) -> int:
    """Bins per dimension: about one bin per cell, 2 to 5."""
    return int(np.clip(round(cells ** (1 / min(dimensions, 4))), 2, MOST))


def tiles(
    space: Descriptor, centroids: Floats, values: np.ma.MaskedArray, pool: Callable[[Floats], float]
) -> tuple[list[Floats], np.ma.MaskedArray]:
    """One rectangle per bin of the first four dimensions, or of all three, in units of the first two, and its value.

    A bin shows the pooled values of the cells whose centroids lie in it, empty ones aside; a bin without a centroid
    shows the cell whose centroid is nearest to the bin's centre, so that a blank bin always means an empty cell.
    """
    shown = min(space.size, 4)
    bins = across(space.size, len(centroids))
    low, high = np.asarray(space.low), np.asarray(space.high)
    unit = (np.asarray(centroids, np.float64) - low)[:, :shown] / (high - low)[:shown]
    place: Ints = np.clip((unit * bins).astype(int), 0, bins - 1)
    members: dict[tuple[int, ...], list[int]] = {}
    for cell, where in enumerate(place.tolist()):
        members.setdefault(tuple(where), []).append(cell)

    rectangles, pooled = [], []
    for where in product(range(bins), repeat=shown):
        middle = (np.array(where) + 0.5) / bins
        cells = members.get(where) or [int(cell_of(unit, middle[None])[0])]
        found = values[cells].compressed()
        pooled.append(pool(found) if len(found) else np.nan)
        rectangles.append(low[:2] + _rectangle(where, bins) * (high - low)[:2])
    return rectangles, np.ma.masked_invalid(pooled)


def _rectangle(where: tuple[int, ...], bins: int) -> Floats:
    """The corners (4, 2) of a bin, in the unit square."""
    sides = []
    for axis in range(2):
        inner = axis + 2
        first, parts = (where[inner], bins) if inner < len(where) else (0, 1)
        ends = np.array([first, first + 1]) / parts
        sides.append((where[axis] + (1 - FILLED) / 2 + FILLED * ends) / bins)
    (left, right), (bottom, top) = sides
    return np.array([(left, bottom), (right, bottom), (right, top), (left, top)])
