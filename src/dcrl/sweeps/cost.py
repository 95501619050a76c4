"""What a sweep costs: the memory of a run from its configuration, its time from runs that were measured.

A run's time per evaluation is that of other runs of the same task and algorithm in the output directory. Without any,
it is computed from `rates.json`, which `benchmarks/sweep_rates.py` measured on one core: seconds per control step, and
seconds per generation of everything else. Episodes count with their full length, so this is an upper bound.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from dcrl.runs.config import RunConfig
from dcrl.runs.memory import process_memory, without_simulator
from dcrl.runs.metrics import read_metrics
from dcrl.sweeps.training import TrainingJob
from dcrl.tasks import registry as tasks


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of the runs that are left: the greatest memory of one in bytes, and the time of all, one after another.

    `seconds` is None where nothing is known about one of them; `measured` says whether runs in the output directory
    were the source.
    """

    memory: int
    seconds: float | None
    longest: float | None
    measured: bool


def cost(waiting: Sequence[TrainingJob], every: Sequence[TrainingJob]) -> Cost:
    """The cost of the jobs in `waiting`; `every` shows which runs may have been measured already."""
    rates = measured_rates(every)
    kinds = {_kind(job.config): job.config for job in waiting}
    computed = {kind: computed_seconds(config) for kind, config in kinds.items() if kind not in rates}
    seconds = [_left(job, rates, computed) for job in waiting]
    known = [each for each in seconds if each is not None]
    return Cost(
        memory=max((process_memory(config) for config in kinds.values()), default=0),
        seconds=sum(known) if len(known) == len(seconds) else None,
        longest=max(known, default=None),
        measured=not computed,
    )


def measured_rates(jobs: Iterable[TrainingJob]) -> dict[tuple[str, str], float]:
    """Seconds per evaluation of each task and algorithm with a run of at least two generations: the median."""
    found: dict[tuple[str, str], list[float]] = {}
    for job in jobs:
        try:
            columns = read_metrics(job.order.run / "metrics.csv")
            evaluations, seconds = columns["evaluations"], columns["wall_seconds"]
        except (ValueError, KeyError):
            continue
        if len(evaluations) > 1 and evaluations[-1] > evaluations[0] and seconds[-1] > seconds[0]:
            rate = (seconds[-1] - seconds[0]) / (evaluations[-1] - evaluations[0])
            found.setdefault(_kind(job.config), []).append(float(rate))
    return {kind: float(np.median(rates)) for kind, rates in found.items()}


def computed_seconds(config: RunConfig) -> float | None:
    """Seconds per evaluation on one core, from the measured rates; None for a task or algorithm without any."""
    rates = _rates()
    step = rates["step_seconds"].get(config.task)
    alike = rates["like"].get(config.task, config.task)  # the task whose training was measured for this one
    rest = rates["generation_seconds"].get(alike, {}).get(config.algorithm)
    if step is None or rest is None:
        return None
    generation = without_simulator(config).generation_evaluations
    return float(step * tasks.get(config.task).horizon + rest / generation)


@cache
def _rates() -> Any:
    return json.loads(files("dcrl.sweeps").joinpath("rates.json").read_text())


def _kind(config: RunConfig) -> tuple[str, str]:
    return config.task, config.algorithm


def _left(
    job: TrainingJob, measured: dict[tuple[str, str], float], computed: dict[tuple[str, str], float | None]
) -> float | None:
    """Seconds that a job still needs."""
    rate = measured.get(_kind(job.config), computed.get(_kind(job.config)))
    if rate is None:
        return None
    reached = job.progress()
    return rate * max(0.0, job.config.evaluations - (0.0 if reached is None else reached.done))
