"""A sweep: jobs handed to a backend, and those that were lost handed to it again, a bounded number of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from dcrl.sweeps.job import Job
from dcrl.sweeps.process import Outcome


@dataclass(frozen=True, kw_only=True)
class Started:
    """A job has started; `where` names the node, if it is not this one."""

    job: Job
    where: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A job has ended; `resumes` says whether it was lost and is handed out again."""

    job: Job
    outcome: Outcome
    resumes: bool = False


class Backend(Protocol):
    """Where the processes of jobs run. Used as a `with` block, which stops them at its end."""

    def __enter__(self) -> Backend: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...
    @property
    def description(self) -> str:
        """How many jobs run at once, and where, in words."""
        ...

    @property
    def at_once(self) -> int | None:
        """How many jobs run at a time; None for as many as there is room for."""
        ...

    def submit(self, job: Job) -> None:
        """Start this job as soon as there is room."""
        ...

    def poll(self) -> list[Started | Ended]:
        """What has happened since the last call."""
        ...

    def stop(self) -> None:
        """Start nothing more, and ask the running jobs to checkpoint and stop. A second call stops them at once."""
        ...


class Sweep:
    """The jobs in a backend's hands."""

    def __init__(self, backend: Backend, jobs: Iterable[Job], retries: int = 3) -> None:
        self.backend, self.retries = backend, retries
        self.open, self.running, self.failed = set(jobs), set[Job](), dict[Job, str]()
        self._losses: Counter[Job] = Counter()
        for job in jobs:
            backend.submit(job)

    @property
    def busy(self) -> bool:
        return bool(self.open)

    def poll(self) -> Iterator[Started | Ended]:
        for event in self.backend.poll():
            if isinstance(event, Started):
                self.running.add(event.job)
                yield event
            else:
                yield self._ended(event.job, event.outcome)

    def _ended(self, job: Job, outcome: Outcome) -> Ended:
        self.running.discard(job)
        if outcome.fate == "lost" and self._losses[job] < self.retries:
            self._losses[job] += 1
            self.backend.submit(job)
            return Ended(job=job, outcome=outcome, resumes=True)
        self.open.discard(job)
        if outcome.fate != "done":
            times = f" ({self._losses[job] + 1} times)" if self._losses[job] else ""
            self.failed[job] = outcome.reason + times
        return Ended(job=job, outcome=outcome)
