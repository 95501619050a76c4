"""A run after a generation: its state, from which the next generation starts, and its report."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from dcrl.archive.archive import Archive
from dcrl.archive.episodes import NO_EPISODES, Remembered
from dcrl.learners.replay import NO_REPLAY, Replay
from dcrl.learners.td3 import TD3State
from dcrl.types import Evaluation, Floats
from dcrl.variation.evolution_strategy import NO_SEARCH, Search


@dataclass(frozen=True, kw_only=True)
class OperatorReport:
    """What one operator achieved in one generation."""

    name: str
    evaluations: int
    added: int
    improvement: float
    similarity: float | None = None  # mean S(d, d') of its valid offspring, where they have a target and it is used


@dataclass(frozen=True, kw_only=True)
class Report:
    """The metrics of a run after a generation; counts are totals since its start."""

    generation: int
    evaluations: int
    environment_steps: int
    invalid: int
    qd_score: float
    coverage: float
    max_fitness: float
    operators: tuple[OperatorReport, ...]


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything a run needs to continue. What an algorithm does not use is empty.

    The replay buffer is the one part that changes in place.
    """

    generation: int
    evaluations: int
    environment_steps: int
    invalid: int
    archive: Archive
    replay: Replay
    novelty: Floats  # (N, D) descriptors that novelty is measured against
    learned: tuple[TD3State, ...] = ()  # one per learner
    search: Search = NO_SEARCH  # of an evolution strategy
    remembered: Remembered = NO_EPISODES  # for operators that vary with whole episodes
    # (C,) the generation in which each elite was added, NaN where empty or unknown
    entered: Floats = field(default_factory=lambda: np.zeros(0, np.float32))


def empty_state(archive: Archive, replay: Replay = NO_REPLAY) -> State:
    """The state before the first evaluation."""
    return State(
        generation=0,
        evaluations=0,
        environment_steps=0,
        invalid=0,
        archive=archive,
        replay=replay,
        novelty=np.zeros((0, archive.centroids.shape[1]), np.float32),
    )


def count_evaluations(state: State, evaluation: Evaluation) -> State:
    """The state with these episodes counted."""
    return dataclasses.replace(
        state,
        evaluations=state.evaluations + len(evaluation.steps),
        environment_steps=state.environment_steps + int(evaluation.steps.sum()),
        invalid=state.invalid + int((~evaluation.valid).sum()),
    )


def with_entries(state: State, before: State | None) -> State:
    """The state with the generation noted for every elite that `before`, the generation before it, did not have."""
    archive = state.archive
    entered = np.full(len(archive.fitness), np.nan, np.float32)
    new = np.flatnonzero(archive.occupied)
    if before is not None:
        if len(before.entered):
            entered = before.entered.copy()
        new = np.flatnonzero(archive.fitness != before.archive.fitness)
        new = new[(archive.genotype[new] != before.archive.genotype[new]).any(axis=1)]
    entered[new] = state.generation
    return dataclasses.replace(state, entered=entered)


def report(state: State, operators: tuple[OperatorReport, ...]) -> Report:
    """The report of a generation: the state's counts and metrics, and what each operator added."""
    return Report(
        generation=state.generation,
        evaluations=state.evaluations,
        environment_steps=state.environment_steps,
        invalid=state.invalid,
        qd_score=state.archive.qd_score,
        coverage=state.archive.coverage,
        max_fitness=state.archive.max_fitness,
        operators=operators,
    )


def initial_report(state: State, operator_names: tuple[str, ...]) -> Report:
    """The report of generation 0, to which no operator has contributed."""
    none = (OperatorReport(name=name, evaluations=0, added=0, improvement=0.0) for name in operator_names)
    return report(state, tuple(none))
