"""Centroidal Voronoi tessellations: the cells of an archive.

k-means on uniform samples of the unit cube, scaled to the descriptor's bounds (Vassiliades et al.,
2017). Computed once and kept in the user's cache directory; an archive stores its own centroids.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from dcrl.types import Descriptor, Floats


def centroids(descriptor: Descriptor, cells: int, samples: int, seed: int) -> Floats:
    """(C, D) float32 centroids within the descriptor's bounds."""
    if cells < 1 or samples < cells:
        raise ValueError(f"an archive needs at least 1 cell and as many samples as cells, got {cells} and {samples}")
    low, high = np.asarray(descriptor.low), np.asarray(descriptor.high)
    unit = _cached(descriptor.size, cells, samples, seed)
    return np.asarray(low + unit * (high - low), np.float32)


def _cached(dimensions: int, cells: int, samples: int, seed: int) -> Floats:
    import sklearn

    name = f"cvt-{dimensions}-{cells}-{samples}-{seed}-sklearn{sklearn.__version__}"
    path = cache_directory() / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.npy"
    stored = _stored(path, (cells, dimensions))
    if stored is not None:
        return stored
    unit = tessellate(dimensions, cells, samples, seed)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.stem}-{os.getpid()}.npy")
        np.save(temporary, unit)
        temporary.replace(path)
    except OSError:  # without a cache the centroids are computed again
        pass
    return unit


def _stored(path: Path, shape: tuple[int, int]) -> Floats | None:
    """The cached centroids, unless they are damaged."""
    try:
        with open(path, "rb") as file:
            unit: Floats = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError):
        return None
    fits = unit.shape == shape and unit.dtype == np.float64
    return unit if fits and ((unit >= 0) & (unit <= 1)).all() else None


def tessellate(dimensions: int, cells: int, samples: int, seed: int) -> Floats:
    """(C, D) centroids in the unit cube. One thread: k-means sums differ in the last bit with more."""
    from sklearn.cluster import KMeans

    points = np.random.default_rng(seed).uniform(size=(samples, dimensions))
    with threadpool_limits(1):
        fitted = KMeans(cells, init="k-means++", n_init=1, random_state=seed).fit(points)
    unit: Floats = fitted.cluster_centers_
    return unit


def cache_directory() -> Path:
    """Where results that can be recomputed are cached: DCRL_CACHE, or the user's cache directory."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dcrl"
    return Path(os.environ.get("DCRL_CACHE") or default)
