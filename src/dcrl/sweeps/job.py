"""A job of a sweep: one run to train or to evaluate. The run's directory shows what is left to do."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from dcrl.runs.started import has_started

# -P: as the installed command, without the working directory
COMMAND = ("-P", "-m", "dcrl")
OUTPUT, RUN = "<output>", "<run>"  # in arguments: the output directory, and the run's directory in it


@dataclass(frozen=True, kw_only=True)
class Order:
    """The work of a process on one run: where the run is, and the arguments of `dcrl` that start or resume it."""

    output: Path
    place: Path  # of the run below the output directory: TASK/ALGORITHM/seed-N
    start: tuple[str, ...]
    resume: tuple[str, ...]
    directory: Path  # where the sweep was started; a task's file may be relative to it
    label: str = ""  # part of the names of its logs
    part: str = ""  # the directory within the run that the process writes to and locks; all of it by default

    @property
    def run(self) -> Path:
        return self.output / self.place

    @property
    def written(self) -> Path:
        """The directory that the process locks."""
        return self.run / self.part

    @property
    def log(self) -> Path:
        """What its commands print."""
        return self.run.with_name(f"{self.run.name}{self.label}.log")

    @property
    def errors(self) -> Path:
        """What its last command prints to standard error."""
        return self.run.with_name(f"{self.run.name}{self.label}.err")

    @property
    def has_started(self) -> bool:
        return has_started(self.run)

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, *COMMAND, *self.arguments(self.resume if self.has_started else self.start))

    def arguments(self, template: tuple[str, ...]) -> tuple[str, ...]:
        """Arguments with the directories filled in."""
        known = {OUTPUT: str(self.output), RUN: str(self.run)}
        return tuple(known.get(each, each) for each in template)

    def moved(self, output: Path) -> Order:
        """The same work in another output directory."""
        return replace(self, output=output)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is, in evaluations or episodes, and its numbers in words."""

    done: float
    total: float
    words: str


class Job(Protocol):
    """One run of a sweep; its text is its name."""

    @property
    def order(self) -> Order: ...
    @property
    def is_complete(self) -> bool: ...
    def progress(self) -> Progress | None:
        """None before there is anything to show."""
        ...
