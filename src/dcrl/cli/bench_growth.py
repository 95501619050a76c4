"""`dcrl bench growth`: how the time of a generation grows with its sizes."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dcrl import devices
from dcrl.archive.centroids import cache_directory
from dcrl.cli import output
from dcrl.repertoires.words import plural
from dcrl.tasks import registry
from dcrl.tasks.task import Task

if TYPE_CHECKING:
    from dcrl.bench.growth import Grown


def growth(
    *,
    task: str = "halfcheetah_uni",
    offspring: tuple[int, ...] = (64, 256, 1024, 4096),
    cells: tuple[int, ...] = (256, 1024, 4096, 16384, 65536),
    episode: tuple[int, ...] = (125, 250, 500, 1000),
    width: tuple[int, ...] = (32, 64, 128, 256, 512),
    repeats: int = 3,
    figure: Path | None = None,
    json: bool = False,
) -> int:
    """Seconds per generation for different numbers of offspring and cells, episode lengths and network widths.

    Generations of dcrl_me with 200 critic steps and 10 policy steps. One size is varied at a time; the others are 256
    offspring, 1,024 cells, episodes of 100 steps, and policies with two layers of 128 units (critics have twice as
    many). An exponent of 1 is linear growth.

    Args:
        task: a task with a MuJoCo model, preferably one whose episodes never end early
        offspring: offspring per generation, half genetic, a quarter policy-gradient, a quarter injected
        cells: cells of the archive, with random centroids
        episode: control steps per episode
        width: units of each of the policies' two hidden layers
        repeats: generations measured per size, after one that compiles; medians are reported
        figure: write a figure to this PNG file
        json: print one JSON object; times in seconds
    """
    robot = registry.get(task)
    if not isinstance(robot, Task):
        raise ValueError(f"bench growth needs a task with a MuJoCo model, but {task} is a Gymnasium environment")
    axes = {"offspring": offspring, "cells": cells, "episode": episode, "width": width}
    if repeats < 1 or any(
        size < least for sizes, least in zip(axes.values(), (4, 1, 1, 1), strict=True) for size in sizes
    ):
        raise ValueError("bench growth needs at least 1 repeat, 4 offspring, 1 cell, 1 step and 1 unit")
    devices.prepare(cache_directory())
    from dcrl.bench.growth import Size, measure_growth

    given = {name: sizes for name, sizes in axes.items() if sizes}
    found = measure_growth(robot, given, repeats, Size(), partial(print, file=sys.stderr, flush=True))
    if figure is not None:
        _draw(found, figure)
    if json:
        output.print_json(
            {"what": "growth", "task": task, "cores": devices.cores(), "results": [asdict(g) for g in found]}
        )
        return 0
    generations, cores = plural(repeats, "generation"), plural(devices.cores(), "core")
    print(f"dcrl_me on {task}, {generations} of each size, {cores}")
    _print(found)
    return 0


def _print(found: list[Grown]) -> None:
    stages = list(found[0].stage_seconds)
    heads = ("size", "seconds", "exponent", *stages)
    for axis in dict.fromkeys(one.axis for one in found):
        rows = [
            (
                f"{one.size:,}",
                f"{one.seconds:.3f}",
                "" if one.exponent is None else f"{one.exponent:.2f}",
                *(f"{one.stage_seconds[stage]:.3f}" for stage in stages),
            )
            for one in found
            if one.axis == axis
        ]
        print(f"\n{axis}")
        output.print_table(heads, rows, right=heads, drop=tuple(stages))


def _draw(found: list[Grown], path: Path) -> None:
    from dcrl.figures.growth import growth_figure

    axes: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        axes[one.axis]["generation"].append((one.size, one.seconds))
        for stage, seconds in one.stage_seconds.items():
            axes[one.axis][stage].append((one.size, seconds))
    growth_figure(axes, path)
