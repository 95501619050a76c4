"""Jobs on Slurm: one job array, submitted with `sbatch` and followed with `squeue` until it has ended."""

from __future__ import annotations

import subprocess
import time
from types import TracebackType

from dcrl.runs.lock import is_locked
from dcrl.sweeps.job import Job
from dcrl.sweeps.process import Outcome, outcome
from dcrl.sweeps.slurm_script import ELEMENTS, Resources, script
from dcrl.sweeps.sweep import Ended, Started

ASK_SECONDS = 10.0  # between two questions to Slurm, which is shared with everybody


class Slurm:
    """Owns a job array. Lost jobs are requeued by Slurm, so none comes back to the sweep."""

    def __init__(self, resources: Resources, at_once: int | None, ask_seconds: float = ASK_SECONDS) -> None:
        self.resources, self._at_once, self.ask_seconds = resources, at_once, ask_seconds
        self._jobs: list[Job] = []
        self._open: dict[int, Job] = {}
        self._started: set[int] = set()
        self._id = ""
        self._asked = 0.0
        self._alive: set[int] = set()

    def __enter__(self) -> Slurm:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Cancel what is left of the array, and wait until its jobs have written their checkpoints."""
        if self._id and self._open:
            self.stop()
            while self._elements():
                time.sleep(self.ask_seconds)

    @property
    def description(self) -> str:
        return "on Slurm" if self._at_once is None else f"on Slurm, {self._at_once} at once"

    @property
    def at_once(self) -> int | None:
        return self._at_once

    def submit(self, job: Job) -> None:
        self._open[len(self._jobs)] = job
        self._jobs.append(job)

    def poll(self) -> list[Started | Ended]:
        if not self._id:
            if not self._jobs:
                return []
            text = script(self._jobs, self.resources, self._at_once)
            self._jobs[0].order.output.mkdir(parents=True, exist_ok=True)
            self._id = _run("sbatch", "--parsable", text=text).strip().partition(";")[0]
            print(f"submitted as job array {self._id}", flush=True)
        if time.monotonic() - self._asked >= self.ask_seconds:
            self._alive, self._asked = self._elements(), time.monotonic()
            return [*self._news(), *self._ends()]
        return []

    def stop(self) -> None:
        """Slurm removes what is pending; the script of a running element passes the signal on to its process."""
        if self._id:
            _run("scancel", "--state=PENDING", self._id)
            _run("scancel", "--batch", "--signal=TERM", self._id)

    def _news(self) -> list[Started]:
        unseen = [number for number in self._open if number not in self._started]
        new = [number for number in unseen if is_locked(self._jobs[number].order.written)]
        self._started.update(new)
        return [Started(job=self._jobs[number], where=f"Slurm, {self._id}_{number % ELEMENTS}") for number in new]

    def _ends(self) -> list[Ended]:
        elements = min(len(self._jobs), ELEMENTS)
        ended = [number for number in self._open if number % elements not in self._alive]
        return [Ended(job=job, outcome=_outcome(job)) for job in map(self._open.pop, ended)]

    def _elements(self) -> set[int]:
        """The elements of the array that are pending or running."""
        asked = ("squeue", "--noheader", "--array", f"--jobs={self._id}", "--format=%K")
        try:
            lines = _run(*asked).split()
        except ValueError:  # Slurm has forgotten an array that ended a while ago
            return set()
        return {int(line) for line in lines if line.isdigit()}


def _outcome(job: Job) -> Outcome:
    if job.is_complete:
        return Outcome(fate="done")
    if not job.order.errors.exists():
        return Outcome(fate="failed", reason="Slurm ended it before it started")
    return outcome(job.order, 1)


def _run(*command: str, text: str = "") -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ValueError(
            f"there is no {command[0]} on this machine: use a login node of the cluster, or leave out --submit to "
            "print the script"
        ) from None
    if done.returncode:
        raise ValueError(f"{command[0]} failed: {' '.join((done.stderr or done.stdout).split())}")
    return done.stdout
