"""Ctrl-C and SIGTERM that leave things whole: the first asks to stop after the current stage, the second insists."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):  # noqa: N818
    """Somebody asked the run to stop."""


class Interrupt:
    """Whether somebody asked."""

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        if self.asked:
            raise Interrupted

    def ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping after the current stage; once more to stop at once", file=sys.stderr)


@contextmanager
def interrupts() -> Iterator[Interrupt]:
    """Handle both signals for the length of a block."""
    interrupt = Interrupt()
    before = {number: signal.signal(number, interrupt.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
