"""Jobs on this machine: so many at once, each on its share of the cores."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from types import TracebackType

from dcrl.devices import cores
from dcrl.sweeps.job import Job
from dcrl.sweeps.process import launch, outcome
from dcrl.sweeps.sweep import Ended, Started


class Local:
    """Owns the processes of the running jobs."""

    def __init__(self, at_once: int | None = None) -> None:
        self._shares = shares(cores() if at_once is None else at_once)
        self._waiting: deque[Job] = deque()
        self._running: dict[int, tuple[Job, subprocess.Popen[bytes]]] = {}

    def __enter__(self) -> Local:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop the processes that still run, and wait for them."""
        self.stop()
        try:
            self._wait()
        except KeyboardInterrupt:
            self.stop()
            self._wait()
            raise

    @property
    def description(self) -> str:
        return f"{self.at_once} at once"

    @property
    def at_once(self) -> int:
        return len(self._shares)

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def poll(self) -> list[Started | Ended]:
        events: list[Started | Ended] = []
        for number, (job, process) in tuple(self._running.items()):
            code = process.poll()
            if code is not None:
                del self._running[number]
                events.append(Ended(job=job, outcome=outcome(job.order, code)))
        for number, share in enumerate(self._shares):
            if number not in self._running and self._waiting:
                job = self._waiting.popleft()
                self._running[number] = (job, launch(job.order, share))
                events.append(Started(job=job))
        return events

    def stop(self) -> None:
        self._waiting.clear()
        for _, process in self._running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)

    def _wait(self) -> None:
        for _, process in self._running.values():
            process.wait()


def shares(at_once: int) -> list[frozenset[int]]:
    """The cores of each of so many jobs; an empty set means all of them, where they cannot be divided."""
    if at_once < 1:
        raise ValueError(f"--at-once is at least 1, got {at_once}")
    every = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if at_once == 1 or len(every) < at_once:
        return [frozenset()] * at_once
    return [frozenset(every[number::at_once]) for number in range(at_once)]
