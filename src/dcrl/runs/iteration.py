"""The generations of a run, one after the other; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dcrl.algorithms.algorithm import Algorithm, generations
from dcrl.algorithms.state import Report, State, with_entries


def iterate(
    algorithm: Algorithm,
    evaluations: int,
    seed: int,
    state: State | None = None,
    on_stage: Callable[[str], None] = lambda name: None,
) -> Iterator[tuple[State, Report]]:
    """Generations until the budget is used up, from the start or from `state`; nothing is written."""
    last = generations(algorithm, evaluations)
    if state is None:
        on_stage("start")
        state, report = algorithm.start(seed)
        state = with_entries(state, None)
        yield state, report
    while state.generation < last:
        before = state
        state, report = algorithm.advance(before, seed, on_stage)
        state = with_entries(state, before)
        yield state, report
