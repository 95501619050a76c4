"""The loop: a run is a sequence of (state, report). No files, no prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dcrl.algorithms.algorithm import Algorithm, Report, State


def generations(algorithm: Algorithm, evaluations: int) -> int:
    """How many generations follow the initial one within a budget of evaluations."""
    initial, each = algorithm.initial_evaluations, algorithm.generation_evaluations
    if evaluations < initial:
        raise ValueError(f"{evaluations} evaluations are fewer than one batch of {initial}; ask for at least {initial}")
    return (evaluations - initial) // each


def train(
    algorithm: Algorithm,
    evaluations: int,
    seed: int,
    state: State | None = None,
    stage: Callable[[str], None] = lambda name: None,
) -> Iterator[tuple[State, Report]]:
    """Generations until the budget is used up, from the start or from `state`."""
    last = generations(algorithm, evaluations)
    if state is None:
        stage("start")
        state, report = algorithm.start(seed)
        yield state, report
    while state.generation < last:
        state, report = algorithm.advance(state, seed, stage)
        yield state, report
