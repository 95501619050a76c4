"""Ctrl-C, SIGTERM and a closed terminal that leave things whole.

The first asks to stop after the current stage, the second insists.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        with suppress(OSError):  # the terminal may be gone
            print("\nstopping after the current stage; once more to stop at once", file=sys.stderr)


@contextmanager
def interrupts() -> Iterator[Interrupt]:
    """Handle these signals for the length of a block; a terminal that closes is ignored where `nohup` says so."""
    interrupt = Interrupt()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, interrupt.ask) for number in numbers}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
