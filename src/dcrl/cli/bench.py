"""`dcrl bench`: measure speed against the machine's own limit."""

from __future__ import annotations

import statistics
import sys
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import Annotated, Literal

import tyro

from dcrl.benchmark import RolloutSpeed, measure_rollouts
from dcrl.cli import output
from dcrl.devices import cores
from dcrl.tasks import registry
from dcrl.tasks.task import Task

PACKAGES = ("dcrl-map-elites", "mujoco", "jax", "numpy")


def run(
    what: Literal["rollout"],
    /,
    *,
    tasks: tuple[str, ...] = ("ant_omni", "halfcheetah_uni", "walker2d_uni"),
    policies: int = 256,
    repeats: int = 3,
    threads: Annotated[int, tyro.conf.arg(help_behavior_hint="(default: 0, one a core that this process may use)")] = 0,
    json: bool = False,
) -> int:
    """Measure speed. `rollout`: the time of a whole rollout over the time of its bare physics steps.

    A whole rollout goes from genotypes to an evaluation with its transitions. Bare physics is the same control
    steps of the same episodes as calls of `Batch.step` alone. 1 would be a rollout that costs nothing but physics.

    Args:
        what: what to measure
        tasks: names of tasks, module:object or file.py:object
        policies: freshly initialised policies in a rollout, one episode each
        repeats: measured rollouts a task, after one that is not measured; medians are reported
        threads: threads for both sides
        json: print one JSON object, for programs; times in seconds
    """
    threads = threads or cores()
    robots = tuple(_robot(name) for name in tasks)
    versions = {package: version(package) for package in PACKAGES}
    if not json:
        print(f"{policies} policies, {repeats} repeats, {threads} threads on {cores()} cores;", _listed(versions))
    speeds = measure_rollouts(robots, policies, repeats, threads, progress=partial(print, file=sys.stderr))
    if json:
        rows = [
            asdict(speed)
            | {
                "ratios": speed.ratios,
                "ratio": speed.ratio,
                "steps_per_second": speed.steps_per_second,
                "microseconds_per_step": speed.microseconds_per_step,
            }
            for speed in speeds
        ]
        output.print_json({"what": what, "cores": cores(), "versions": versions, "results": rows})
    else:
        _print_table(speeds)
    return 0


def _robot(name: str) -> Task:
    task = registry.get(name)
    if not isinstance(task, Task):
        raise ValueError(f"bench rollout needs tasks with a MuJoCo model, but {name} is a Gymnasium environment")
    return task


def _print_table(speeds: list[RolloutSpeed]) -> None:
    numbers = ("steps lived", "rollout s", "bare physics s", "ratio", "steps/s", "µs/step")
    table = output.table("task", *numbers, "ratio of each repeat", right=numbers)
    for speed in speeds:
        seconds = (_median(speed.rollout_seconds), _median(speed.bare_seconds))
        table.add_row(
            speed.task,
            f"{speed.steps:,}",
            *(f"{each:.3f}" for each in seconds),
            f"{speed.ratio:.2f}",
            f"{speed.steps_per_second:,.0f}",
            f"{speed.microseconds_per_step:.1f}",
            " ".join(f"{ratio:.2f}" for ratio in speed.ratios),
        )
    output.console().print(table)


def _median(values: tuple[float, ...]) -> float:
    return float(statistics.median(values))


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{package} {number}" for package, number in versions.items())
