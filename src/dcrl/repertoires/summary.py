"""A repertoire as a few numbers and as a coarse map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Ints

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEVELS = 10


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What `dcrl show` prints; None where the file does not say or there is no elite."""

    task: str
    algorithm: str | None
    seed: int | None
    evaluations: int | None
    layers: tuple[int, ...]
    has_actor: bool
    cells: int
    elites: int
    qd_score: float
    coverage: float
    max_fitness: float | None
    fitness_quantiles: tuple[float, ...] | None  # minimum, quartiles, maximum
    descriptor_names: tuple[str, ...]
    descriptor_unit: str
    descriptor_low: tuple[float, ...]
    descriptor_high: tuple[float, ...]


def summarise(repertoire: Repertoire) -> Summary:
    archive, space = repertoire.archive, repertoire.space
    found = repertoire.fitness[repertoire.occupied].astype(np.float64)
    return Summary(
        task=repertoire.task,
        algorithm=repertoire.algorithm,
        seed=repertoire.seed,
        evaluations=repertoire.evaluations,
        layers=repertoire.layers.sizes,
        has_actor=repertoire.actor_parameters is not None,
        cells=len(repertoire.fitness),
        elites=len(found),
        qd_score=archive.qd_score,
        coverage=archive.coverage,
        max_fitness=archive.max_fitness if len(found) else None,
        fitness_quantiles=tuple(np.quantile(found, QUANTILES).tolist()) if len(found) else None,
        descriptor_names=space.names,
        descriptor_unit=space.unit,
        descriptor_low=space.low,
        descriptor_high=space.high,
    )


def picture(repertoire: Repertoire, width: int, height: int) -> Ints:
    """(height, width) fitness levels from 0 (lowest) to 9 (highest), -1 where the cell is empty.

    For two descriptor dimensions: the first from left to right, the second from the bottom up.
    """
    space = repertoire.space
    if space.size != 2:
        raise ValueError(f"a map in text needs 2 descriptor dimensions, {repertoire.task} has {space.size}")
    across, up = (
        low + (np.arange(count) + 0.5) / count * (high - low)
        for low, high, count in zip(space.low, space.high, (width, height), strict=True)
    )
    points = np.stack(np.meshgrid(across, up[::-1]), axis=-1)
    _, cells = KDTree(repertoire.centroids).query(points)
    found = repertoire.fitness[repertoire.occupied].astype(np.float64)
    if not len(found):
        return np.full((height, width), -1)
    least, span = found.min(), max(float(np.ptp(found)), np.finfo(np.float64).tiny)
    level = np.floor((repertoire.fitness.astype(np.float64) - least) / span * LEVELS)
    level = np.where(repertoire.occupied, np.clip(level, 0, LEVELS - 1), -1)
    drawn: Ints = level[cells].astype(int)
    return drawn
