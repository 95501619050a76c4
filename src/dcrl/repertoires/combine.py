"""Repertoires out of repertoires: several merged into one, or one with other cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.archive.archive import Archive, add, empty
from dcrl.archive.centroids import centroids
from dcrl.repertoires.repertoire import Repertoire

CVT_SAMPLES = ArchiveConfig().cvt_samples
DISTANCES = 2**22  # numbers at a time: adding compares every elite with every centroid


def merge(repertoires: Sequence[Repertoire]) -> Repertoire:
    """The best elite a cell of all repertoires, in the cells of the first; of equals the first one's.

    The first one's elites stay where they are. The actor, which belongs to one run, is left out.
    """
    if len(repertoires) < 2:
        raise ValueError(f"merging takes at least 2 repertoires, got {len(repertoires)}")
    first, *others = repertoires
    merged = first.archive
    for number, other in enumerate(others, 2):
        different = difference(first, other)
        if different:
            raise ValueError(f"repertoire {number} of {len(repertoires)} cannot be merged into the first: {different}")
        merged = _with_elites(merged, other)
    counts = [repertoire.evaluations for repertoire in repertoires]
    known = [count for count in counts if count is not None]
    return replace(
        _holding(first, merged),
        algorithm=first.algorithm if len({each.algorithm for each in repertoires}) == 1 else None,
        seed=None,
        evaluations=sum(known) if len(known) == len(counts) else None,
    )


def regrid(repertoire: Repertoire, cells: int, seed: int = 0, samples: int = CVT_SAMPLES) -> Repertoire:
    """The same elites in another number of cells; where several fall into one, the best is kept."""
    made = centroids(repertoire.space, cells, samples, seed)
    return _holding(repertoire, _with_elites(empty(made, repertoire.layers.parameters), repertoire))


def difference(first: Repertoire, other: Repertoire) -> str | None:
    """Why the elites of two repertoires do not belong together; None if they do."""
    if first.task != other.task:
        return f"its task is {other.task!r}, the first one's is {first.task!r}"
    if first.layers != other.layers:
        return f"its layers are {list(other.layers.sizes)}, the first one's are {list(first.layers.sizes)}"
    for field in fields(first.space):
        one, its = getattr(first.space, field.name), getattr(other.space, field.name)
        if one != its:
            return f"its descriptor's {field.name} is {its!r}, the first one's is {one!r}"
    return None


def _with_elites(archive: Archive, repertoire: Repertoire) -> Archive:
    """Some at a time, in the order of their cells, which gives what all at once would."""
    cells = np.flatnonzero(repertoire.occupied)
    step = max(1, DISTANCES // archive.centroids.size)
    for start in range(0, len(cells), step):
        rows = cells[start : start + step]
        archive, _ = add(archive, repertoire.genotype[rows], repertoire.fitness[rows], repertoire.descriptor[rows])
    return archive


def _holding(repertoire: Repertoire, archive: Archive) -> Repertoire:
    """A repertoire with another archive, and without its actor."""
    return replace(
        repertoire,
        centroids=archive.centroids,
        occupied=archive.occupied,
        fitness=np.where(archive.occupied, archive.fitness, np.nan).astype(np.float32),
        descriptor=archive.descriptor,
        genotype=archive.genotype,
        actor_parameters=None,
    )
