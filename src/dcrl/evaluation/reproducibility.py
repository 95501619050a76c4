"""Reproducibility of an archive: metrics over repeated evaluations of every elite.

An elite got its cell by one evaluation, and the archive keeps the best of many noisy ones, so stored fitness is biased
upwards. Over independent repeats (Section 4 of the paper; the paper takes 512)

    expected QD score      = the sum over elites of their mean fitness
    expected max fitness   = the greatest mean fitness
    expected distance      = the mean over elites of the mean of |descriptor - centroid of the cell|, in raw units

and the corrected archive has each elite in the cell of its mean descriptor, with its mean fitness, the best of a cell.
The actor is measured likewise, conditioned on the centroid of each occupied cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcrl import simulators
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive
from dcrl.archive.cells import cell_of
from dcrl.evaluation.repeats import Repeats, matching_task, play, unplayed
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats, Ints

REPEATS = 512  # the paper's


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The policies of N cells over their valid repeats, one row per cell; NaN where no repeat was valid."""

    cell: Ints  # (N,) the cell of each policy
    valid: Ints  # (N,) valid repeats
    steps: Floats  # (N,) mean control steps simulated
    fitness_mean: Floats  # (N,)
    fitness_deviation: Floats  # (N,) standard deviation (of a sample: divided by one less); NaN with 1 repeat
    descriptor_mean: Floats  # (N, D)
    descriptor_deviation: Floats  # (N, D)
    distance_to_centroid: Floats  # (N,) mean of the repeats' distances
    distance_to_stored: Floats | None  # (N,) from the descriptor in the archive; the actor was never given that
    landing: Ints  # (N,) the cell of the mean descriptor, -1 where there is none


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Summary metrics of a set of policies."""

    repeats: int
    episodes: int
    invalid: int
    steps: int
    policies: int
    expected_qd_score: float
    expected_qd_score_error: float  # standard error, from the repeats
    expected_max_fitness: float
    expected_distance_to_centroid: float
    expected_distance_to_stored: float | None
    home: float  # share of the policies whose mean descriptor lies in their own cell
    corrected_qd_score: float
    corrected_coverage: float
    corrected_max_fitness: float


@dataclass(frozen=True, kw_only=True)
class Reproducibility:
    """The stored archive, and its re-evaluated elites and actor."""

    repeats: Repeats
    stored: Archive  # without genotypes, like the corrected ones
    elites: Measured
    elites_totals: Totals
    corrected: Archive
    actor: Measured | None
    actor_totals: Totals | None
    actor_corrected: Archive | None


def evaluate(
    repertoire: Repertoire,
    repeats: int = REPEATS,
    *,
    seed: int = 0,
    actor: bool = True,
    simulator: str | None = None,
    threads: int | None = None,
    on_progress: Callable[[Repeats], None] = lambda done: None,
) -> Reproducibility:
    """Evaluate every elite `repeats` times, and the actor, if there is one, as often for every occupied cell.

    Results depend on `seed` and on nothing else. Without the `actor` it takes half of the time. `on_progress` is
    called with the repeats so far after each chunk of episodes.
    """
    done = unplayed(repertoire, repeats, actor=actor)
    with simulators.make(matching_task(repertoire), simulator, threads) as opened:
        for now in play(repertoire, done, opened, seed):
            on_progress(now)
            done = now
    return measure(done)


def measure(repeats: Repeats) -> Reproducibility:
    """The statistics of all complete repeats."""
    if not repeats.whole:
        raise ValueError("there is nothing to measure yet: expected at least one complete repeat of every policy")
    cells, stored = repeats.cells, archives.empty(repeats.centroids, 0)
    stored.fitness[cells], stored.descriptor[cells] = repeats.stored_fitness, repeats.stored_descriptor
    elites = _measured(repeats, 0)
    actor = _measured(repeats, 1) if repeats.has_actor else None
    corrected = _archive(repeats, elites.fitness_mean, elites.descriptor_mean)
    actor_corrected = None if actor is None else _archive(repeats, actor.fitness_mean, actor.descriptor_mean)
    return Reproducibility(
        repeats=repeats,
        stored=stored,
        elites=elites,
        elites_totals=_totals(repeats, elites, corrected, 0),
        corrected=corrected,
        actor=actor,
        actor_totals=None if actor is None or actor_corrected is None else _totals(repeats, actor, actor_corrected, 1),
        actor_corrected=actor_corrected,
    )


def corrected_repertoire(found: Reproducibility, repertoire: Repertoire) -> Repertoire:
    """The corrected archive as a repertoire: each elite in the cell of its mean descriptor, with its mean fitness."""
    empty_archive = archives.empty(repertoire.centroids, repertoire.layers.parameters)
    genotype = repertoire.genotype[found.elites.cell]
    archive, _ = archives.add(empty_archive, genotype, found.elites.fitness_mean, found.elites.descriptor_mean)
    return repertoire.with_archive(archive)


def _measured(repeats: Repeats, which: int) -> Measured:
    """The elites (0) or the actor (1)."""
    cells = repeats.cells
    columns = slice(which * len(cells), (which + 1) * len(cells))
    fitness = repeats.fitness[: repeats.whole, columns].astype(np.float64)
    descriptor = repeats.descriptor[: repeats.whole, columns].astype(np.float64)
    mean, deviation = _moments(descriptor)
    fitness_mean, fitness_deviation = _moments(fitness)
    landing = np.full(len(cells), -1)
    known = np.isfinite(mean).all(axis=-1)
    landing[known] = cell_of(repeats.centroids, mean[known].astype(np.float32))

    def distance(target: Floats) -> Floats:
        return _moments(np.linalg.norm(descriptor - target.astype(np.float64), axis=-1))[0]

    return Measured(
        cell=cells,
        valid=np.isfinite(fitness).sum(axis=0),
        steps=repeats.steps[: repeats.whole, columns].mean(axis=0),
        fitness_mean=fitness_mean,
        fitness_deviation=fitness_deviation,
        descriptor_mean=mean,
        descriptor_deviation=deviation,
        distance_to_centroid=distance(repeats.centroids[cells]),
        distance_to_stored=None if which else distance(repeats.stored_descriptor),
        landing=landing,
    )


def _moments(values: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the first axis, NaN left out."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0).sum(axis=0) / count
        squares = np.where(known, np.square(values - mean), 0).sum(axis=0)
        return mean, np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)


def _archive(repeats: Repeats, fitness: Floats, descriptor: Floats) -> Archive:
    """An archive of the given values, each in the cell where its descriptor lies, without genotypes."""
    empty_archive = archives.empty(repeats.centroids, 0)
    nothing = np.zeros((len(fitness), 0), np.float32)
    return archives.add(empty_archive, nothing, fitness, descriptor.astype(np.float32))[0]


def _totals(repeats: Repeats, measured: Measured, corrected: Archive, which: int) -> Totals:
    columns = slice(which * len(repeats.cells), (which + 1) * len(repeats.cells))
    known = measured.valid > 0
    fitness = measured.fitness_mean[known]
    variance = np.square(measured.fitness_deviation[known]) / measured.valid[known]
    stored = measured.distance_to_stored

    def over_cells(values: Floats) -> float:
        return float(values[known].mean()) if known.any() else float("nan")

    return Totals(
        repeats=repeats.whole,
        episodes=repeats.whole * len(measured.cell),
        invalid=repeats.whole * len(measured.cell) - int(measured.valid.sum()),
        steps=int(repeats.steps[: repeats.whole, columns].sum(dtype=np.int64)),
        policies=len(measured.cell),
        expected_qd_score=float(fitness.sum()),
        expected_qd_score_error=float(np.sqrt(variance.sum())),
        expected_max_fitness=float(fitness.max()) if len(fitness) else float("nan"),
        expected_distance_to_centroid=over_cells(measured.distance_to_centroid),
        expected_distance_to_stored=None if stored is None else over_cells(stored),
        home=float((measured.landing == measured.cell).mean()),
        corrected_qd_score=corrected.qd_score,
        corrected_coverage=corrected.coverage,
        corrected_max_fitness=corrected.max_fitness,
    )
