"""Simulation that overlaps with training.

Offspring that need no trained network, such as genetic ones, are simulated in a thread of their own while the learners
train. An episode depends only on its genotype and start key, so the results equal those without overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import takewhile
from typing import TypeVar

from dcrl.variation.operator import Operator

Result = TypeVar("Result")


def without_training(operators: Sequence[Operator]) -> int:
    """How many of the first operators need no network that this generation trains."""
    return len(tuple(takewhile(lambda operator: not operator.needs_training, operators)))


@contextmanager
def meanwhile(work: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Run `work` in a thread during a block; the block ends when both have."""
    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(work)
