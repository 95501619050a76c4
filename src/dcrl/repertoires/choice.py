"""Which policy of a repertoire is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A policy, and what the repertoire promises of it."""

    what: Literal["elite", "actor"]
    cell: int | None  # none of the actor's
    genotype: Floats  # (P,)
    descriptor: Floats  # (D,): where the archive has the elite, or what the actor was told
    fitness: float | None  # none of the actor's


def choose(
    repertoire: Repertoire, *, descriptor: ArrayLike | None = None, cell: int | None = None, actor: bool = False
) -> Choice:
    """The elite nearest to `descriptor`, that of `cell`, or the fittest; or the actor, told `descriptor`."""
    if descriptor is not None and cell is not None:
        raise ValueError("an elite is chosen by its descriptor or by its cell; give one of the two")
    if actor:
        if descriptor is None:
            raise ValueError("the actor is told what to do: give it a descriptor, and no cell")
        told = np.asarray(descriptor, np.float32)
        return Choice(
            what="actor", cell=None, genotype=repertoire.actor_genotype(descriptor), descriptor=told, fitness=None
        )
    if cell is None and descriptor is not None:
        return elite(repertoire, int(repertoire.nearest(descriptor, 1)[0]))
    if cell is None:
        if not repertoire.occupied.any():
            raise ValueError("the repertoire is empty")
        return elite(repertoire, int(np.nanargmax(np.where(repertoire.occupied, repertoire.fitness, np.nan))))
    if not 0 <= cell < len(repertoire.occupied):
        raise ValueError(f"a cell is a number from 0 to {len(repertoire.occupied) - 1}, got {cell}")
    if not repertoire.occupied[cell]:
        near = int(repertoire.nearest(repertoire.centroids[cell], 1)[0])
        raise ValueError(f"cell {cell} is empty; the nearest elite is in cell {near}")
    return elite(repertoire, cell)


def elite(repertoire: Repertoire, cell: int) -> Choice:
    """The elite of an occupied cell."""
    return Choice(
        what="elite",
        cell=cell,
        genotype=repertoire.genotype[cell],
        descriptor=repertoire.descriptor[cell],
        fitness=float(repertoire.fitness[cell]),
    )


def fittest_of_regions(repertoire: Repertoire, regions: int) -> dict[tuple[int, int], int]:
    """Of each of `regions` x `regions` equal parts of the first two dimensions, the cell of the fittest elite in it.

    Parts are numbered along the first and the second dimension; one without an elite is left out.
    """
    space = repertoire.space
    if space.size < 2:
        raise ValueError(f"a montage needs a descriptor of 2 dimensions or more; that of {repertoire.task} has 1")
    low, high = np.array(space.low[:2]), np.array(space.high[:2])
    found: dict[tuple[int, int], int] = {}
    for cell in np.flatnonzero(repertoire.occupied)[np.argsort(-repertoire.fitness[repertoire.occupied])].tolist():
        share = (repertoire.descriptor[cell, :2] - low) / (high - low)
        column, row = np.clip((share * regions).astype(int), 0, regions - 1).tolist()
        found.setdefault((column, row), cell)
    return found
