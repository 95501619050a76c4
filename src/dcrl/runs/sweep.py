"""A sweep: many runs, each in a process of its own. Their directories say what is left to do."""

from __future__ import annotations

import json
import os
import re
import reprlib
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcrl.files import read_json
from dcrl.repertoires.load import load
from dcrl.runs.config import RunConfig, to_json
from dcrl.runs.metrics import read_metrics

COMMAND = (sys.executable, "-P", "-m", "dcrl")  # -P: as the installed command, without the working directory


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One run of a sweep: where it goes, and what begins it or goes on with it."""

    config: RunConfig
    path: Path
    begin: tuple[str, ...]
    go_on: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.config.algorithm} on {self.config.task}, seed {self.config.seed}"

    @property
    def log(self) -> Path:
        """What its commands print."""
        return self.path.with_name(f"{self.path.name}.log")

    @property
    def has_begun(self) -> bool:
        return (self.path / "checkpoints").is_dir()

    @property
    def command(self) -> tuple[str, ...]:
        return (*COMMAND, *(self.go_on if self.has_begun else self.begin))

    @property
    def is_complete(self) -> bool:
        """Whether another generation would exceed the budget, and the results are those of the last one."""
        try:
            counts = read_metrics(self.path / "metrics.csv")["evaluations"]
            used_up = len(counts) > 1 and 2 * counts[-1] - counts[-2] > self.config.evaluations
            return bool(used_up) and load(self.path).evaluations == counts[-1]
        except (ValueError, OSError, KeyError):
            return False

    def reached(self) -> dict[str, float]:
        """The last row of its metrics; nothing before there are any."""
        try:
            return {name: float(values[-1]) for name, values in read_metrics(self.path / "metrics.csv").items()}
        except (ValueError, OSError, IndexError):
            return {}

    def check(self) -> None:
        """Refuse a directory that holds a run with other settings, the budget aside."""
        if not self.has_begun:
            return
        there, wanted = (
            dict(_leaves(content)) for content in (read_json(self.path / "config.json"), to_json(self.config))
        )
        odd = [name for name in sorted(there | wanted) if there.get(name) != wanted.get(name) and name != "evaluations"]
        if odd:
            found, asked = (reprlib.repr(settings.get(odd[0])) for settings in (there, wanted))
            raise ValueError(
                f"{self.path} holds a run with another {odd[0]}: {found}, not {asked}; ask for the same, "
                "or for another --output"
            )


def _leaves(content: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The settings of a configuration by their full names, as JSON has them."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _leaves(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.loads(json.dumps(content))


class Sweep:
    """Owns the processes of the runs under way, and shares out the cores among them. Used as a `with` block."""

    def __init__(self, waiting: Iterable[Job], at_once: int = 1) -> None:
        self.waiting, self._shares = deque(waiting), shares(at_once)
        self.running: dict[int, tuple[Job, subprocess.Popen[bytes]]] = {}
        self.failed: dict[Job, str] = {}  # with the reason
        self._before: dict[Job, int] = {}  # the length of a log before the run

    def __enter__(self) -> Sweep:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing goes on alone: who is still running is asked to stop, and waited for."""
        self.stop()
        try:
            self._wait()
        except KeyboardInterrupt:
            self.stop()
            self._wait()
            raise

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def collect(self) -> list[Job]:
        """The runs that have ended since."""
        ended = [number for number, (_, process) in self.running.items() if process.poll() is not None]
        found = [self.running.pop(number) for number in ended]
        self.failed |= {job: self._reason(job, process.returncode) for job, process in found if process.returncode}
        return [job for job, _ in found]

    def begin(self) -> list[Job]:
        """Start as many of those waiting as there is room for."""
        begun = []
        for number, cores in enumerate(self._shares):
            if number not in self.running and self.waiting:
                job = self.waiting.popleft()
                self.running[number] = (job, self._start(job, cores))
                begun.append(job)
        return begun

    def stop(self) -> None:
        """Begin nothing more and ask the others to stop; they leave checkpoints to go on from. Twice is insisting."""
        self.waiting.clear()
        for _, process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)

    def _wait(self) -> None:
        for _, process in self.running.values():
            process.wait()

    def _start(self, job: Job, cores: frozenset[int]) -> subprocess.Popen[bytes]:
        job.log.parent.mkdir(parents=True, exist_ok=True)
        self._before[job] = job.log.stat().st_size if job.log.exists() else 0
        with open(job.log, "ab") as log, _on(cores):  # a process has the cores of the thread that starts it
            return subprocess.Popen(
                job.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a terminal's Ctrl-C comes from here, once
            )

    def _reason(self, job: Job, code: int) -> str:
        """Why a run failed: the signal that killed it, or the last thing it said."""
        if code < 0:
            return f"it was killed by {signal.Signals(-code).name}"
        said = job.log.read_bytes()[self._before[job] :].decode(errors="replace").splitlines()
        return next((line for line in reversed(said) if re.search(r"\w", line)), f"it ended with exit code {code}")


def shares(at_once: int) -> list[frozenset[int]]:
    """The cores of each of so many runs; none means all of them, where they cannot be shared out."""
    if at_once < 1:
        raise ValueError(f"--at-once is at least 1, got {at_once}")
    every = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if at_once == 1 or len(every) < at_once:
        return [frozenset()] * at_once
    return [frozenset(every[number::at_once]) for number in range(at_once)]


@contextmanager
def _on(cores: frozenset[int]) -> Iterator[None]:
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
