"""`dcrl bench`: measure speed against the machine's own limit."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import Annotated

import tyro

from dcrl import devices
from dcrl.archive.centroids import cache_directory
from dcrl.bench.rollouts import RolloutSpeed, measure_rollouts
from dcrl.cli import output
from dcrl.devices import cores
from dcrl.runs import config as configs
from dcrl.tasks import registry
from dcrl.tasks.task import Task

PACKAGES = ("dcrl-map-elites", "mujoco", "jax", "numpy")


def main(arguments: Sequence[str]) -> int:
    """`dcrl bench rollout ...` or `dcrl bench generation ...`."""
    functions: dict[str, Callable[..., int]] = {"rollout": rollout, "generation": generation}
    what, *rest = arguments or ("--help",)
    if what in ("-h", "--help"):
        print(
            "usage: dcrl bench {rollout,generation} ...\n\n"
            + "\n".join(
                f"  dcrl bench {name:<10}  {(function.__doc__ or '').splitlines()[0]}"
                for name, function in functions.items()
            )
        )
        return 0
    if what not in functions:
        raise ValueError(f"bench measures {' or '.join(functions)}, got {what!r}")
    code: int = tyro.cli(functions[what], prog=f"dcrl bench {what}", args=rest, config=(tyro.conf.FlagCreatePairsOff,))
    return code


def rollout(
    *,
    tasks: tuple[str, ...] = ("ant_omni", "halfcheetah_uni", "walker2d_uni"),
    policies: int = 256,
    repeats: int = 3,
    threads: Annotated[int, tyro.conf.arg(help_behavior_hint="(default: 0, one a core that this process may use)")] = 0,
    json: bool = False,
) -> int:
    """The time of a whole rollout over the time of its bare physics steps.

    A whole rollout goes from genotypes to an evaluation with its transitions. Bare physics is the same control
    steps of the same episodes as calls of `Batch.step` alone. 1 would be a rollout that costs nothing but physics.

    Args:
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
        output.print_json({"what": "rollout", "cores": cores(), "versions": versions, "results": rows})
    else:
        _print_table(speeds)
    return 0


def generation(
    *,
    tasks: tuple[str, ...] = ("ant_omni", "walker2d_uni", "humanoid_uni"),
    algorithm: str = "dcrl_me",
    generations: int = 3,
    warm_up: int = 2,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Seconds a stage of a paper-size generation, and its arithmetic against a large matrix product's.

    The product is the machine's own limit: single precision, on all cores, measured between the generations. Stages are
    measured one after another; a generation as it runs plays its genetic offspring while it trains.

    Args:
        tasks: names of tasks, module:object or file.py:object
        algorithm: the algorithm, with the paper's hyperparameters
        generations: measured generations each way; medians are reported
        warm_up: generations before those, at least 1 because the first compiles
        seed: the run's seed
        json: print one JSON object, for programs; times in seconds
    """
    if warm_up < 1 or generations < 1:
        raise ValueError(
            f"bench generation needs at least 1 generation and 1 to warm up, got {generations} and {warm_up}"
        )
    from dcrl.bench.generations import measure_generations

    devices.prepare(cache_directory())
    versions = {package: version(package) for package in PACKAGES}
    speeds = []
    for task in tasks:
        composition = configs.build(configs.default(task, algorithm))
        report = partial(print, file=sys.stderr, flush=True)
        speeds.append(measure_generations(task, algorithm, composition, warm_up, generations, seed, report))
    if json:
        output.print_json(
            {"what": "generation", "cores": cores(), "versions": versions, "results": [asdict(s) for s in speeds]}
        )
        return 0
    print(
        f"{algorithm}, paper settings, {generations} generations after {warm_up}, seed {seed}, {cores()} cores;",
        _listed(versions),
    )
    for speed in speeds:
        table = output.table("stage", "seconds", "GFLOP/s", "of the matrix product", right=("seconds", "GFLOP/s"))
        rates = {"train": speed.critic_gflops, "pg": speed.policy_gradient_gflops}
        for stage, seconds in speed.stage_seconds.items():
            rate = rates.get(stage)
            share = ("", "") if rate is None else (f"{rate:.0f}", f"{rate / speed.matmul_gflops:.0%}")
            table.add_row(stage, f"{seconds:.2f}", *share)
        table.add_row("all, one after another", f"{speed.apart_seconds:.2f}", "", "")
        table.add_row("a generation as it runs", f"{speed.generation_seconds:.2f}", "", "")
        table.add_row("matrix product", "", f"{speed.matmul_gflops:.0f}", "100%")
        print(f"\n{speed.task}: {speed.steps_lived:.0f} steps lived a policy, peak memory {speed.peak_gib:.2f} GiB")
        output.console().print(table)
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
