"""A sweep: one run for each task, algorithm and seed, in processes of their own. The directories say what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dcrl.runs.metrics import read_metrics
from dcrl.runs.repertoire import load
from dcrl.runs.run import directory


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of a sweep."""

    task: str
    algorithm: str
    seed: int
    path: Path  # the run's directory

    @property
    def log(self) -> Path:
        """What its command prints."""
        return self.path.with_name(f"{self.path.name}.log")

    def __str__(self) -> str:
        return f"{self.algorithm} on {self.task}, seed {self.seed}"

    def reached(self) -> dict[str, float]:
        """The last row of its metrics; nothing before there are any."""
        try:
            return {name: float(values[-1]) for name, values in read_metrics(self.path / "metrics.csv").items()}
        except (ValueError, OSError, IndexError):
            return {}

    def is_complete(self, evaluations: int) -> bool:
        """Whether another generation would exceed the budget, and the results are those of the last one."""
        try:
            counts = read_metrics(self.path / "metrics.csv")["evaluations"]
            used_up = len(counts) > 1 and 2 * counts[-1] - counts[-2] > evaluations
            return bool(used_up) and load(self.path).evaluations == counts[-1]
        except (ValueError, OSError, KeyError):
            return False

    def command(self, evaluations: int, flags: Sequence[str] = ()) -> list[str]:
        """What begins the run or, if there is something to go on from, goes on with it."""
        dcrl = [sys.executable, "-m", "dcrl"]
        if (self.path / "checkpoints").is_dir():
            return [*dcrl, "resume", str(self.path), "--evaluations", str(evaluations)]
        about = ["--algorithm", self.algorithm, "--seed", str(self.seed), "--evaluations", str(evaluations)]
        output = self.path.parents[2]
        return [*dcrl, "train", self.task, *about, "--output", str(output), *flags]


def jobs(tasks: Iterable[str], algorithms: Sequence[str], seeds: Iterable[int], output: Path) -> tuple[Job, ...]:
    """All of them, seed by seed, so that what is there when a sweep is stopped can be compared."""
    tasks = tuple(tasks)
    return tuple(
        Job(task=task, algorithm=algorithm, seed=seed, path=directory(output, task, algorithm, seed))
        for seed in seeds
        for task in tasks
        for algorithm in algorithms
    )


class Sweep:
    """Owns the processes of the runs under way, and shares out the cores among them. Used as a `with` block."""

    def __init__(self, waiting: Iterable[Job], evaluations: int, flags: Sequence[str] = (), at_once: int = 1) -> None:
        self.waiting, self.evaluations, self.flags = deque(waiting), evaluations, tuple(flags)
        self.running: dict[int, tuple[Job, subprocess.Popen[bytes]]] = {}
        self.failed: list[Job] = []
        self._shares = shares(at_once)

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
        self.failed += [job for job, process in found if process.returncode]
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
                process.send_signal(signal.SIGINT)

    def _wait(self) -> None:
        for _, process in self.running.values():
            process.wait()

    def _start(self, job: Job, cores: frozenset[int] | None) -> subprocess.Popen[bytes]:
        job.log.parent.mkdir(parents=True, exist_ok=True)
        pin: Callable[[], None] | None = partial(os.sched_setaffinity, 0, cores) if cores else None
        with open(job.log, "ab") as log:
            return subprocess.Popen(
                job.command(self.evaluations, self.flags),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a terminal's Ctrl-C comes from here, once
                preexec_fn=pin,  # before JAX counts the cores
            )


def shares(at_once: int) -> list[frozenset[int] | None]:
    """The cores of each of so many runs; None for all of them, where they cannot be shared out."""
    if at_once < 1:
        raise ValueError(f"--at-once is at least 1, got {at_once}")
    every = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if at_once == 1 or len(every) < at_once:
        return [None] * at_once
    return [frozenset(every[number::at_once]) for number in range(at_once)]
