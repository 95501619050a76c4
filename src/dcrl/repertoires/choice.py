"""Which policy of a repertoire was asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire


def choose(
    repertoire: Repertoire, *, descriptor: ArrayLike | None = None, cell: int | None = None, actor: bool = False
) -> Policy:
    """The elite nearest to `descriptor`, the elite of `cell`, or the fittest elite; or the actor, conditioned on
    `descriptor`.
    """
    if descriptor is not None and cell is not None:
        raise ValueError("an elite is chosen by its descriptor or by its cell; give one of the two")
    if actor:
        if descriptor is None:
            raise ValueError("the actor is conditioned on a descriptor: give a descriptor, and no cell")
        return repertoire.actor(descriptor)
    if descriptor is not None:
        return repertoire.policy_for(descriptor)
    return repertoire.policy(fittest(repertoire) if cell is None else cell)


def fittest(repertoire: Repertoire) -> int:
    """The cell of the elite with the highest fitness."""
    if not repertoire.occupied.any():
        raise ValueError("the repertoire is empty")
    return int(np.argmax(np.where(repertoire.occupied, repertoire.fitness, -np.inf)))


def fittest_of_regions(repertoire: Repertoire, regions: int) -> dict[tuple[int, int], int]:
    """The cell of the fittest elite in each of `regions` x `regions` equal parts of the first two dimensions.

    Regions are numbered along the first and the second dimension; a region without an elite is left out.
    """
    space = repertoire.space
    if space.size < 2:
        raise ValueError(f"a montage needs a descriptor of 2 dimensions or more; {repertoire.task} has 1")
    low, high = np.array(space.low[:2]), np.array(space.high[:2])
    found: dict[tuple[int, int], int] = {}
    for cell in np.flatnonzero(repertoire.occupied)[np.argsort(-repertoire.fitness[repertoire.occupied])].tolist():
        share = (repertoire.descriptor[cell, :2] - low) / (high - low)
        column, row = np.clip((share * regions).astype(int), 0, regions - 1).tolist()
        found.setdefault((column, row), cell)
    return found
