"""The cells of an archive as polygons."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Voronoi

from dcrl.types import Floats


def voronoi_cells(centroids: Floats, low: tuple[float, ...], high: tuple[float, ...]) -> list[Floats]:
    """One polygon per centroid, within the bounds. Points are mirrored at each side, so that every cell is finite."""
    lower, upper = np.asarray(low), np.asarray(high)
    points = [np.asarray(centroids, np.float64)]
    for axis in range(2):
        for bound in (lower[axis], upper[axis]):
            mirrored = points[0].copy()
            mirrored[:, axis] = 2 * bound - mirrored[:, axis]
            points.append(mirrored)
    diagram = Voronoi(np.concatenate(points))
    return [
        np.clip(diagram.vertices[diagram.regions[diagram.point_region[i]]], lower, upper) for i in range(len(centroids))
    ]
