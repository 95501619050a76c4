"""A paper-size generation of DCRL-MAP-Elites, ours and QDax's side by side.

    python benchmarks/against_qdax.py --qdax-python path/to/qdax/bin/python --json against_qdax.json

Three processes take turns, one generation each, so that a slow moment of the machine falls on all of them:
ours, ours with falls that do not end an episode (about the most a generation of ours can cost), and QDax's.
"""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from dcrl.devices import cores
from dcrl.runs.manifest import processor
from dcrl.tasks import registry
from turns import Job, Sizes, Worker


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to compare, and how long."""

    qdax_python: Path
    """The Python of an environment with QDax; README.md says how to make one."""
    tasks: tuple[str, ...] = ("ant_omni", "walker2d_uni", "humanoid_uni")
    """Tasks that both sides have."""
    generations: int = 3
    """Generations timed on each side; medians are reported."""
    warm_up_generations: int = 10
    """Generations of ours before the first timed one, so that its archive holds robots that survive."""
    horizon: int | None = None
    """Control steps per episode; the task's own by default. Smaller only to try the benchmark out."""
    json: Path | None = None
    """Where to write everything that was measured."""
    sizes: Annotated[Sizes, tyro.conf.arg(name="")] = Sizes()


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side's generations on one task."""

    about: dict[str, Any]
    generations: list[dict[str, Any]]

    @property
    def seconds(self) -> float:
        return float(statistics.median(each["seconds"] for each in self.generations))

    @property
    def steps(self) -> float:
        """Control steps simulated an episode, the mean."""
        return float(statistics.mean(each["steps"] for each in self.generations))

    @property
    def numbers(self) -> str:
        first, last = self.generations[0]["generation"], self.generations[-1]["generation"]
        return str(first) if first == last else f"{first}-{last}"

    @property
    def memory(self) -> float:
        """GiB at the highest, over the whole life of the process."""
        return float(max(each["peak_memory_gib"] for each in self.generations))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One task."""

    task: str
    horizon: int
    ours: Side
    whole: Side  # ours, no fall ending an episode
    qdax: Side
    load: list[float]  # the machine's load averages before the first timed generation

    @property
    def row(self) -> tuple[str, ...]:
        return (
            self.task,
            f"{self.ours.seconds:.2f}",
            self.ours.numbers,
            f"{self.ours.steps:.0f} of {self.horizon}",
            f"{self.whole.seconds:.2f}",
            f"{self.qdax.seconds:.2f}",
            f"{self.qdax.seconds / self.ours.seconds:.1f}",
            f"{self.qdax.seconds / self.whole.seconds:.1f}",
            f"{self.ours.memory:.1f} / {self.qdax.memory:.1f}",
        )


HEADER = (
    *("task", "ours, s", "generations", "mean simulated steps", "ours, whole episodes, s", "QDax, s"),
    *("QDax / ours", "QDax / ours, whole episodes", "memory, GiB, ours / QDax"),
)


def compare(task: str, config: Config) -> Comparison:
    horizon = config.horizon or registry.BUILT_IN[task].horizon
    settled = Job(task=task, horizon=horizon, sizes=config.sizes)
    late = dataclasses.replace(settled, warm_up=config.warm_up_generations)
    whole = dataclasses.replace(settled, whole_episodes=1)
    mine = Path(sys.executable)
    with ExitStack() as stack:
        workers = []
        for python, script, job in (
            (mine, "dcrl_generation.py", late),
            (mine, "dcrl_generation.py", whole),
            (config.qdax_python, "qdax_generation.py", settled),
        ):
            print(f"{task}: {script} prepares and runs generations 1 to {job.warm_up}", file=sys.stderr)
            worker = Worker(python, script, job, stack.enter_context(tempfile.TemporaryFile()))
            stack.callback(worker.close)
            workers.append(worker)
        load = list(os.getloadavg())
        turns = [[worker.turn() for worker in workers] for _ in range(config.generations)]
    sides = [
        Side(about=worker.about, generations=list(said))
        for worker, said in zip(workers, zip(*turns, strict=True), strict=True)
    ]
    return Comparison(task=task, horizon=horizon, ours=sides[0], whole=sides[1], qdax=sides[2], load=load)


def check(config: Config) -> None:
    if not os.access(config.qdax_python, os.X_OK):
        raise SystemExit(f"{config.qdax_python} is no Python to run; benchmarks/README.md says how to make one")
    unknown = [task for task in config.tasks if task not in registry.BUILT_IN]
    if unknown:
        raise SystemExit(f"there is no task {unknown[0]}; known tasks: {', '.join(registry.BUILT_IN)}")
    if config.generations < 1 or config.warm_up_generations < 1:
        raise SystemExit("both sides need at least 1 generation to warm up and 1 to time")


def main(config: Config) -> None:
    check(config)
    for text in (HEADER, ("---",) * len(HEADER)):
        print("|", " | ".join(text), "|", flush=True)
    comparisons = []
    for task in config.tasks:
        comparisons.append(compare(task, config))
        print("|", " | ".join(comparisons[-1].row), "|", flush=True)
    if config.json:
        content = {
            "cores": cores(),
            "processor": processor(),
            "sizes": dataclasses.asdict(config.sizes),
            "results": [dataclasses.asdict(each) | summary(each) for each in comparisons],
        }
        config.json.write_text(json.dumps(content, indent=2) + "\n")


def summary(comparison: Comparison) -> dict[str, float]:
    ours, whole, qdax = comparison.ours.seconds, comparison.whole.seconds, comparison.qdax.seconds
    return {
        "ours_seconds": ours,
        "whole_seconds": whole,
        "qdax_seconds": qdax,
        "ratio": qdax / ours,
        "whole_ratio": qdax / whole,
    }


if __name__ == "__main__":
    main(tyro.cli(Config))
