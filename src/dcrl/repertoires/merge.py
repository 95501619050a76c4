"""Several repertoires merged into one: the best elite of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from dcrl.archive.archive import Archive, add
from dcrl.repertoires.repertoire import Repertoire

DISTANCES = 2**22  # computed at a time: adding compares every elite with every centroid


def merge(repertoires: Sequence[Repertoire]) -> Repertoire:
    """The best elite of each cell, in the cells of the first repertoire. Ties are won by the earlier repertoire.

    The first repertoire's elites stay where they are. Actors are left out.
    """
    if len(repertoires) < 2:
        raise ValueError(f"merging takes at least 2 repertoires, got {len(repertoires)}")
    first, *others = repertoires
    merged = first.archive
    for number, other in enumerate(others, 2):
        different = difference(first, other)
        if different:
            raise ValueError(f"repertoire {number} of {len(repertoires)} cannot be merged into the first: {different}")
        merged = add_elites(merged, other)
    counts = [repertoire.evaluations for repertoire in repertoires]
    known = [count for count in counts if count is not None]
    return replace(
        first.with_archive(merged),
        algorithm=first.algorithm if len({each.algorithm for each in repertoires}) == 1 else None,
        seed=None,
        evaluations=sum(known) if len(known) == len(counts) else None,
    )


def difference(first: Repertoire, other: Repertoire) -> str | None:
    """Why two repertoires cannot be merged; None if they can."""
    if first.task != other.task:
        return f"its task is {other.task!r}, the first one's is {first.task!r}"
    if first.layers != other.layers:
        return f"its layers are {list(other.layers.sizes)}, the first one's are {list(first.layers.sizes)}"
    for field in fields(first.space):
        one, its = getattr(first.space, field.name), getattr(other.space, field.name)
        if one != its:
            return f"its descriptor's {field.name} is {its!r}, the first one's is {one!r}"
    return None


def add_elites(archive: Archive, repertoire: Repertoire) -> Archive:
    """The archive with a repertoire's elites added in the order of their cells, in batches to bound memory."""
    cells = np.flatnonzero(repertoire.occupied)
    step = max(1, DISTANCES // archive.centroids.size)
    for start in range(0, len(cells), step):
        rows = cells[start : start + step]
        archive, _ = add(archive, repertoire.genotype[rows], repertoire.fitness[rows], repertoire.descriptor[rows])
    return archive
