"""Progress of long work that is counted: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TextIO

from rich import progress as rich
from rich.console import Console

LINE_SECONDS = 10.0


class Progress:
    """Shows how far `total` is done and how long the rest will take at the speed so far."""

    def __init__(self, total: int, done: int, stream: TextIO) -> None:
        self._stream, self._total, self._first = stream, total, done
        self._begun = time.monotonic()
        self._said = -LINE_SECONDS
        console = Console(file=stream)
        self._bar: rich.Progress | None = None
        if console.is_terminal:
            columns = (
                rich.TextColumn("{task.description}"),
                rich.BarColumn(),
                rich.MofNCompleteColumn(),
                rich.TimeElapsedColumn(),
                rich.TextColumn("left {task.fields[left]}"),
            )
            self._bar = rich.Progress(*columns, console=console)
            self._task = self._bar.add_task("start", total=total, completed=done, left="unknown")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, what: str) -> None:
        now = time.monotonic()
        left = duration((now - self._begun) / max(done - self._first, 1) * (self._total - done))
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=what, left=left)
        elif now - self._said >= LINE_SECONDS or done == self._total:
            self._said = now
            print(f"{what}  {done / self._total:.1%}  left {left}", file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """In words, as exactly as an estimate deserves."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
