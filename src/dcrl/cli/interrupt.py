"""Ctrl-C, SIGTERM and a closed terminal stop a command cleanly.

Within `interrupts`, the first asks the command to stop after the current stage, the second stops it at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130  # the exit code of a command that was interrupted


class Interrupted(Exception):  # noqa: N818
    """The user asked the command to stop."""


class Interrupt:
    """Whether the user asked the command to stop."""

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
            print("\nstopping after the current stage; press Ctrl-C again to stop at once", file=sys.stderr)


@contextmanager
def interrupts() -> Iterator[Interrupt]:
    """Handle these signals during a block; a terminal that closes is ignored where `nohup` says so."""
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
