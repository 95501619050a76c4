"""When a file of a run is to be written next."""

from __future__ import annotations

import time

from dcrl.algorithms.state import State


class Due:
    """Whether something is due: after so many seconds, or at a multiple of so many generations."""

    def __init__(self, seconds: float, generations: int | None = None) -> None:
        self.seconds, self.generations, self.last, self.generation = seconds, generations, time.monotonic(), -1

    def now(self, state: State) -> bool:
        at_multiple = self.generations is not None and state.generation % self.generations == 0
        return self.generation < 0 or at_multiple or time.monotonic() - self.last >= self.seconds

    def done(self, state: State) -> None:
        self.last, self.generation = time.monotonic(), state.generation
