"""The loop: a run is a sequence of (state, report). No files, no prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dcrl.algorithms.compose import Composition, Report, State


def generations(algorithm: Composition, evaluations: int) -> int:
    """How many generations follow the initial one within a budget of evaluations."""
    if evaluations < algorithm.batch_size:
        raise ValueError(
            f"{evaluations} evaluations are fewer than one batch of {algorithm.batch_size}; "
            f"ask for at least {algorithm.batch_size}"
        )
    return (evaluations - algorithm.batch_size) // algorithm.batch_size


def train(
    algorithm: Composition,
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
