"""The live table of a sweep: a bar for all jobs and one per running job in a terminal, a line per event elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich import progress as rich
from rich.console import Console

from dcrl.sweeps.job import Job
from dcrl.sweeps.sweep import Ended, Started


class Display:
    """Progress of a sweep, on any backend: it is read from the run directories."""

    def __init__(self, total: int, done: int, noun: str = "runs") -> None:
        self._console = Console()
        self._bars: dict[Job, rich.TaskID] = {}
        self._started: dict[Job, float] = {}
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[numbers]}"),
        )
        self._progress = rich.Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._whole = self._progress.add_task(noun, total=total, completed=done, numbers="")

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._progress.stop()

    def show(self, event: Started | Ended) -> None:
        if isinstance(event, Started):
            self._begin(event)
        else:
            self._end(event)

    def look(self) -> None:
        """Bring the bars up to date."""
        if self._progress.disable:
            return
        for job, bar in self._bars.items():
            reached = job.progress()
            if reached is not None:
                self._progress.update(bar, completed=reached.done, total=reached.total, numbers=reached.words)

    def _begin(self, event: Started) -> None:
        job = event.job
        self._started[job] = time.monotonic()
        where = f" on {event.where}" if event.where else ""
        self._bars[job] = self._progress.add_task(f"{job}{where}", total=None, numbers="starting")
        self._say(f"started {job}{where}: {job.order.log}")

    def _end(self, event: Ended) -> None:
        job = event.job
        bar, begin = self._bars.pop(job, None), self._started.pop(job, None)
        if bar is not None:
            self._progress.remove_task(bar)
        if event.resumes:
            self._say(f"lost    {job}: {event.outcome.reason}; it is resumed")
            return
        self._progress.advance(self._whole)
        reached = job.progress()
        words = "no results" if reached is None else reached.words
        seconds = "" if begin is None else f", {time.monotonic() - begin:,.0f} s"
        self._say(f"{'done   ' if event.outcome.fate == 'done' else 'failed '} {job}: {words}{seconds}")

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
