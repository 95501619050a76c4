"""What both sides of a comparison share: the sizes of a generation, and workers that take turns.

A worker is a process that prepares an algorithm and then times one generation for every line it is sent. It
prints one JSON object per line: first what it is, then each generation. Two Pythons run this file, ours and the
peer's, so it needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

HIDDEN, CRITIC_HIDDEN = (128, 128), (256, 256)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """A generation of DCRL-MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 128
    """Genetic offspring."""
    pg_offspring: int = 64
    """Policy-gradient offspring."""
    ai_offspring: int = 64
    """Injected actors."""
    critic_steps: int = 3000
    """Critic updates."""
    policy_steps: int = 150
    """Gradient steps per policy-gradient offspring."""
    batch_size: int = 100
    """Transitions in a minibatch."""
    replay_size: int = 1_000_000
    """Transitions kept for training."""
    cells: int = 1024
    """Cells of the archive."""
    cvt_samples: int = 50_000
    """Samples the cells are computed from; not timed."""

    @property
    def offspring(self) -> int:
        return self.ga_offspring + self.pg_offspring + self.ai_offspring


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a worker runs."""

    task: str
    horizon: int  # control steps per episode
    warm_up: int = 2  # generations before the first timed one; by then everything is compiled
    whole_episodes: int = 0  # 1: a fall does not end an episode; QDax's episodes are always simulated whole
    sizes: Sizes = Sizes()


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """An algorithm after its warm-up."""

    about: dict[str, Any]
    advance: Callable[[], dict[str, Any]]  # one generation, finished when it returns; what there is to say of it


def work(prepare: Callable[[Job], Contestant]) -> None:
    """The main function of a worker."""
    job = _parse()
    begin = time.perf_counter()
    contestant = prepare(job)
    _say({"setup_seconds": time.perf_counter() - begin} | contestant.about)
    for _ in sys.stdin:
        begin = time.perf_counter()
        outcome = contestant.advance()
        seconds = time.perf_counter() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        _say({"seconds": seconds, "peak_memory_gib": memory} | outcome)


class Worker:
    """Owns a worker's process; `about` is its first word."""

    def __init__(self, python: Path, script: str, job: Job, log: IO[bytes]) -> None:
        self._log = log
        self._command = [str(python), str(Path(__file__).with_name(script)), *_flags(job)]
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.about = self._hear()

    def turn(self) -> dict[str, Any]:
        """One generation."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return self._hear()

    def close(self) -> None:
        self._process.communicate()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"{"):  # other lines are libraries that print when they are imported
                said: dict[str, Any] = json.loads(line)
                return said
        self._log.seek(0)
        last = self._log.read().decode(errors="replace")[-3000:]
        raise RuntimeError(f"{' '.join(self._command)} ended with code {self._process.wait()}:\n{last}")


def _say(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)


def _flags(job: Job) -> list[str]:
    values = vars(job) | vars(job.sizes)
    return [part for name, value in values.items() if name != "sizes" for part in (f"--{name}", str(value))]


def _parse() -> Job:
    parser = argparse.ArgumentParser(description="Times one generation for every line on standard input.")
    for field in (*dataclasses.fields(Job), *dataclasses.fields(Sizes)):
        if field.name != "sizes":
            required = field.default is dataclasses.MISSING
            default = None if required else field.default
            parser.add_argument(
                f"--{field.name}", type=str if field.name == "task" else int, default=default, required=required
            )
    values = vars(parser.parse_args())
    sizes = {field.name: values.pop(field.name) for field in dataclasses.fields(Sizes)}
    return Job(**values, sizes=Sizes(**sizes))
