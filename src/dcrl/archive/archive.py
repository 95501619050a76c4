"""A MAP-Elites archive: `add` keeps the best of each cell.

Pure functions on a frozen value, in NumPy: the same on every machine, and nothing to compile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcrl import memory
from dcrl.archive.cells import cell_of
from dcrl.types import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Cells and their elites; an empty cell has fitness -inf, descriptor NaN and genotype 0."""

    centroids: Floats  # (C, D)
    fitness: Floats  # (C,)
    descriptor: Floats  # (C, D), achieved by the elite
    genotype: Floats  # (C, P)

    @property
    def occupied(self) -> Bools:
        """(C,)"""
        return self.fitness > -np.inf

    @property
    def qd_score(self) -> float:
        """The sum of all elites' fitness."""
        return float(self.fitness[self.occupied].sum(dtype=np.float64))

    @property
    def coverage(self) -> float:
        """The share of cells that hold an elite."""
        return float(self.occupied.mean())

    @property
    def max_fitness(self) -> float:
        """The best elite's fitness, NaN while the archive is empty."""
        return float(self.fitness.max()) if self.occupied.any() else float("nan")


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The outcome of adding a batch of offspring."""

    added: Bools  # (B,)
    improvement: Floats  # (B,) float64, how much its cell's fitness grew; an empty cell counts as 0


def empty(centroids: Floats, parameters: int) -> Archive:
    """An archive without elites."""
    cells, dimensions = centroids.shape
    return Archive(
        centroids=centroids,
        fitness=np.full(cells, -np.inf, np.float32),
        descriptor=np.full((cells, dimensions), np.nan, np.float32),
        genotype=np.zeros((cells, parameters), np.float32),
    )


def add(archive: Archive, genotype: Floats, fitness: Floats, descriptor: Floats) -> tuple[Archive, Addition]:
    """Add offspring: the best offspring of each cell replaces the elite if its fitness is strictly higher.

    Of equally good offspring the first is added. Offspring with non-finite values are never added.
    """
    fitness = np.asarray(fitness, np.float32)
    finite = np.isfinite(fitness) & np.isfinite(descriptor).all(axis=1) & np.isfinite(genotype).all(axis=1)
    candidates = np.flatnonzero(finite)
    cells = cell_of(archive.centroids, descriptor[candidates])
    best_first = np.lexsort((candidates, -fitness[candidates]))
    _, firsts = np.unique(cells[best_first], return_index=True)
    winners = best_first[firsts]
    better = fitness[candidates[winners]] > archive.fitness[cells[winners]]
    rows, targets = candidates[winners[better]], cells[winners[better]]

    before = archive.fitness[targets].astype(np.float64)
    added = np.zeros(len(fitness), bool)
    added[rows] = True
    improvement = np.zeros(len(fitness))
    improvement[rows] = fitness[rows] - np.where(before > -np.inf, before, 0.0)

    new_fitness, new_descriptor = archive.fitness.copy(), archive.descriptor.copy()
    new_genotype = memory.copied(archive.genotype)
    new_fitness[targets] = fitness[rows]
    new_descriptor[targets] = descriptor[rows]
    new_genotype[targets] = genotype[rows]
    updated = Archive(
        centroids=archive.centroids, fitness=new_fitness, descriptor=new_descriptor, genotype=new_genotype
    )
    return updated, Addition(added=added, improvement=improvement)
