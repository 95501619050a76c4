"""A sweep: many runs, each in a process of its own. The run directories show what is left to do."""

from __future__ import annotations

import os
import reprlib
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dcrl.files import read_json
from dcrl.repertoires.load import load
from dcrl.runs.config import RunConfig, completed, differences, to_json
from dcrl.runs.metrics import budget_used, read_metrics
from dcrl.runs.parent import PARENT
from dcrl.runs.place import is_same_task

COMMAND = (sys.executable, "-P", "-m", "dcrl")  # -P: as the installed command, without the working directory


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One run of a sweep: its directory, and the arguments that start or resume it."""

    config: RunConfig
    own_task: Mapping[str, str] | None  # describes a task of the user's own
    path: Path
    start: tuple[str, ...]
    resume: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.config.algorithm} on {self.config.task}, seed {self.config.seed}"

    @property
    def log(self) -> Path:
        """What its commands print."""
        return self.path.with_name(f"{self.path.name}.log")

    @property
    def errors(self) -> Path:
        """What its last command prints to standard error."""
        return self.path.with_name(f"{self.path.name}.err")

    @property
    def has_started(self) -> bool:
        return (self.path / "checkpoints").is_dir()

    @property
    def command(self) -> tuple[str, ...]:
        return (*COMMAND, *(self.resume if self.has_started else self.start))

    @property
    def is_complete(self) -> bool:
        """Whether the budget is used up, and the results are those of the last generation."""
        try:
            counts = read_metrics(self.path / "metrics.csv")["evaluations"]
            return budget_used(counts, self.config.evaluations) and load(self.path).evaluations == counts[-1]
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
        if not self.has_started:
            return
        before, free = read_json(self.path / "config.json"), {"evaluations"}
        if isinstance(before, dict) and is_same_task(
            self.path, str(before.get("task")), self.config.task, self.own_task
        ):
            free.add("task")  # perhaps by another name
        found = differences(completed(before), to_json(self.config))
        odd = next((each for each in found if each.name not in free), None)
        if odd is not None:
            there, here = reprlib.repr(odd.before), reprlib.repr(odd.now)
            raise ValueError(
                f"{self.path} holds a run with another {odd.name}: {there}, not {here}; use the same value, "
                "or another --output"
            )


class Sweep:
    """Owns the processes of the running runs, and divides the cores among them. Used as a `with` block."""

    def __init__(self, waiting: Iterable[Job], at_once: int = 1) -> None:
        self.waiting, self._shares = deque(waiting), shares(at_once)
        self.running: dict[int, tuple[Job, subprocess.Popen[bytes]]] = {}
        self.failed: dict[Job, str] = {}  # with the reason

    def __enter__(self) -> Sweep:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the processes that still run, and wait for them."""
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
        """The runs that have ended since the last call."""
        ended = [number for number, (_, process) in self.running.items() if process.poll() is not None]
        found = [self.running.pop(number) for number in ended]
        self.failed |= {job: self._reason(job, process.returncode) for job, process in found if process.returncode}
        return [job for job, _ in found]

    def start(self) -> list[Job]:
        """Start as many of the waiting runs as there is room for."""
        started = []
        for number, cores in enumerate(self._shares):
            if number not in self.running and self.waiting:
                job = self.waiting.popleft()
                self.running[number] = (job, self._launch(job, cores))
                started.append(job)
        return started

    def stop(self) -> None:
        """Start nothing more, and ask the running ones to checkpoint and stop. A second call stops them at once."""
        self.waiting.clear()
        for _, process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)

    def _wait(self) -> None:
        for _, process in self.running.values():
            process.wait()

    def _launch(self, job: Job, cores: frozenset[int]) -> subprocess.Popen[bytes]:
        job.log.parent.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {PARENT: str(os.getpid())}
        with open(job.log, "ab") as log, open(job.errors, "wb") as errors, _on(cores):  # a child inherits the cores
            return subprocess.Popen(
                job.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=errors,
                env=environment,
                start_new_session=True,  # Ctrl-C reaches it once, through `stop`
            )

    def _reason(self, job: Job, code: int) -> str:
        """Why a run failed: the signal that killed it, or the last line on its standard error."""
        if code < 0:
            return f"it was killed by {signal.Signals(-code).name}"
        lines = job.errors.read_text(errors="replace").splitlines() if job.errors.exists() else []
        written = [line.strip() for line in lines if line.strip()]
        return written[-1] if written else f"it ended with exit code {code}"


def shares(at_once: int) -> list[frozenset[int]]:
    """The cores of each of so many runs; an empty set means all of them, where they cannot be divided."""
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
