"""Ctrl-C while there is something to clean up: a child process, temporary files, a progress bar."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keyboard_interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt in this block, even if the program ends at once elsewhere.

    Nothing changes where interrupts are ignored, nor outside the main thread, which alone receives them.
    """
    before = signal.getsignal(signal.SIGINT)
    unchanged = not callable(before) or before is signal.default_int_handler
    if unchanged or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
