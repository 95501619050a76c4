"""`dcrl bench`: measure speed against the machine's own limit."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import tyro

from dcrl import devices
from dcrl.algorithms import catalogue
from dcrl.archive.centroids import cache_directory
from dcrl.bench.rollouts import RolloutSpeed, measure_rollouts
from dcrl.cli import output
from dcrl.cli.bench_growth import growth
from dcrl.devices import cores
from dcrl.repertoires.words import plural
from dcrl.runs import config as configs
from dcrl.tasks import registry
from dcrl.tasks.task import Task

if TYPE_CHECKING:
    from dcrl.bench.generations import GenerationSpeed

PACKAGES = ("dcrl-map-elites", "mujoco", "jax", "numpy")


def main(arguments: Sequence[str]) -> int:
    """`dcrl bench rollout ...`, `dcrl bench generation ...` or `dcrl bench growth ...`."""
    functions: dict[str, Callable[..., int]] = {"rollout": rollout, "generation": generation, "growth": growth}
    what, *rest = arguments or ("--help",)
    if what in ("-h", "--help"):
        print(
            "usage: dcrl bench {rollout,generation,growth} ...\n\n"
            + "\n".join(
                f"  dcrl bench {name:<10}  {(function.__doc__ or '').splitlines()[0]}"
                for name, function in functions.items()
            )
        )
        return 0
    if what not in functions:
        raise ValueError(f"bench measures rollout, generation or growth, got {what!r}")
    code: int = tyro.cli(functions[what], prog=f"dcrl bench {what}", args=rest, config=(tyro.conf.FlagCreatePairsOff,))
    return code


def rollout(
    *,
    tasks: tuple[str, ...] = ("ant_omni", "halfcheetah_uni", "walker2d_uni"),
    policies: int = 256,
    repeats: int = 3,
    threads: Annotated[
        int, tyro.conf.arg(help_behavior_hint="(default: 0, one per core that this process may use)")
    ] = 0,
    json: bool = False,
) -> int:
    """The time of a whole rollout divided by the time of its physics steps alone.

    A whole rollout goes from genotypes to an evaluation with its transitions. Physics alone is the same control
    steps of the same episodes as calls of `Batch.step` alone. A ratio of 1 means that all time is physics.

    Args:
        tasks: names of tasks, module:object or file.py:object
        policies: freshly initialised policies in a rollout, one episode each
        repeats: measured rollouts per task, after one that is not measured; medians are reported
        threads: threads for both sides
        json: print one JSON object; times in seconds
    """
    threads = threads or cores()
    robots = tuple(_robot(name) for name in tasks)
    versions = {package: version(package) for package in PACKAGES}
    if not json:
        print(f"policies {policies}, repeats {repeats}, threads {threads}, cores {cores()};", _listed(versions))
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
    algorithm: str = catalogue.DEFAULT,
    generations: int = 3,
    warm_up: int = 2,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Seconds per stage of a paper-size generation, and its speed compared with a large matrix product.

    The product is the machine's own limit: single precision, on all cores, measured between the generations. Stages are
    measured one after another. In training, genetic offspring are simulated while the networks are trained.

    Args:
        tasks: names of tasks, module:object or file.py:object
        algorithm: the algorithm, with the paper's hyperparameters
        generations: number of generations for the medians; as many are measured stage by stage and as in training
        warm_up: number of generations before these, at least 1 because the first one compiles
        seed: the run's seed
        json: print one JSON object; times in seconds
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
        report = partial(print, file=sys.stderr, flush=True)
        with configs.open_algorithm(configs.default(task, algorithm)) as opened:
            speeds.append(measure_generations(task, algorithm, opened, warm_up, generations, seed, report))
    if json:
        output.print_json(
            {"what": "generation", "cores": cores(), "versions": versions, "results": [asdict(s) for s in speeds]}
        )
        return 0
    print(
        f"{algorithm}, paper settings, {plural(generations, 'generation')} after {warm_up}, seed {seed}, "
        f"{plural(cores(), 'core')};",
        _listed(versions),
    )
    for speed in speeds:
        print(
            f"\n{speed.task}: {speed.mean_steps:.0f} simulated steps per policy, peak memory {speed.peak_gib:.2f} GiB"
        )
        _print_stages(speed)
    return 0


def _print_stages(speed: GenerationSpeed) -> None:
    limit = speed.matmul_gflops
    rates = {stage: (f"{rate:.0f}", f"{rate / limit:.0%}") for stage, rate in speed.stage_gflops.items()}
    rows = [
        *((stage, f"{spent:.2f}", *rates.get(stage, ("", ""))) for stage, spent in speed.stage_seconds.items()),
        ("all, one after another", f"{speed.sequential_seconds:.2f}", "", ""),
        ("a generation as it runs", f"{speed.generation_seconds:.2f}", "", ""),
        ("matrix product", "", f"{limit:.0f}", "100%"),
    ]
    numbers = ("seconds", "GFLOP/s", "of the product")
    output.print_table(("stage", *numbers), rows, right=numbers, drop=("of the product",))


def _robot(name: str) -> Task:
    task = registry.get(name)
    if not isinstance(task, Task):
        raise ValueError(f"bench rollout needs tasks with a MuJoCo model, but {name} is a Gymnasium environment")
    return task


def _print_table(speeds: list[RolloutSpeed]) -> None:
    numbers = ("steps", "rollout s", "bare physics s", "ratio", "steps/s", "µs/step")
    rows = [
        (
            speed.task,
            f"{speed.steps:,}",
            *(f"{statistics.median(each):.3f}" for each in (speed.rollout_seconds, speed.bare_seconds)),
            f"{speed.ratio:.2f}",
            f"{speed.steps_per_second:,.0f}",
            f"{speed.microseconds_per_step:.1f}",
            " ".join(f"{ratio:.2f}" for ratio in speed.ratios),
        )
        for speed in speeds
    ]
    narrow = ("ratio of each repeat", "µs/step", "steps/s", "steps", "bare physics s", "rollout s")
    output.print_table(("task", *numbers, "ratio of each repeat"), rows, right=numbers, drop=narrow)


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{package} {number}" for package, number in versions.items())
