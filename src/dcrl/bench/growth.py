"""How the time of a generation grows with offspring, cells, episode length and network width, one of them at a time.

Generations of DCRL-MAP-Elites with little learning, on a task whose episodes always have full length. The centroids
are random points: k-means would take longer than the generations, and a generation's time does not depend on it.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from dcrl import simulators
from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.dcrl_me import DCRLConfig, dcrl_me
from dcrl.algorithms.state import State
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive
from dcrl.learners.td3 import TD3Config
from dcrl.networks.policies import policy_layers
from dcrl.tasks.task import Task
from dcrl.variation.policy_gradient import PolicyGradientConfig

SEED = 0


@dataclass(frozen=True, kw_only=True)
class Size:
    """A generation's size; an axis of growth varies one field."""

    offspring: int = 256
    cells: int = 1024
    episode: int = 100
    width: int = 128


@dataclass(frozen=True, kw_only=True)
class Grown:
    """The median seconds of a generation of one size, by stage, and how they grew from the size before."""

    axis: str
    size: int
    stage_seconds: dict[str, float]
    seconds: float
    exponent: float | None  # of the whole generation: 1 is linear; None for the first size
    stage_exponents: dict[str, float]


def measure_growth(
    task: Task, axes: Mapping[str, Sequence[int]], repeats: int, base: Size, progress: Callable[[str], None]
) -> list[Grown]:
    """Generations of every size of every axis, the other fields as in `base`."""
    found: list[Grown] = []
    for axis, sizes in axes.items():
        before: Grown | None = None
        for size in sorted(set(sizes)):
            stages = _median(measure(task, dataclasses.replace(base, **{axis: size}), repeats))
            before = _grown(axis, size, stages, before)
            progress(f"{axis} {size:,}: {before.seconds:.3f} s per generation")
            found.append(before)
    return found


def measure(task: Task, size: Size, repeats: int) -> list[dict[str, float]]:
    """Seconds by stage of `repeats` generations, after one that compiles."""
    task = dataclasses.replace(task, horizon=size.episode)
    with simulators.make(task) as simulator:
        layers = policy_layers(task.observation_size, task.action_size, (size.width, size.width))
        setting = Setting(simulator=simulator, layers=layers, descriptor=task.descriptor)
        algorithm = dataclasses.replace(dcrl_me(setting, _config(size)), overlap=False)
        state, _ = algorithm.start(SEED)
        state = with_cells(state, setting, size.cells)
        seconds = []
        for _ in range(1 + repeats):
            marks: list[tuple[str, float]] = []
            state, _ = algorithm.advance(state, SEED, partial(_mark, marks))
            _mark(marks, "")
            seconds.append({name: end - begin for (name, begin), (_, end) in pairwise(marks)})
    return seconds[1:]


def _mark(marks: list[tuple[str, float]], stage: str) -> None:
    marks.append((stage, time.perf_counter()))


def _config(size: Size) -> DCRLConfig:
    quarter = max(1, size.offspring // 4)
    return DCRLConfig(
        ga_offspring=max(1, size.offspring - 2 * quarter),
        pg_offspring=quarter,
        ai_offspring=quarter,
        archive=ArchiveConfig(cells=16, cvt_samples=1000),  # replaced by random ones
        pg=PolicyGradientConfig(policy_steps=10),
        td3=TD3Config(critic_steps=200, critic_hidden=(2 * size.width, 2 * size.width)),
    )


def with_cells(state: State, setting: Setting, cells: int) -> State:
    """The state with its elites in another archive, of random centroids."""
    low, high = np.asarray(setting.descriptor.low), np.asarray(setting.descriptor.high)
    unit = np.random.default_rng(SEED).uniform(size=(cells, setting.descriptor.size))
    empty = archives.empty(np.asarray(low + unit * (high - low), np.float32), setting.layers.parameters)
    old: Archive = state.archive
    kept = old.occupied
    archive, _ = archives.add(empty, old.genotype[kept], old.fitness[kept], old.descriptor[kept])
    return dataclasses.replace(state, archive=archive)


def _median(generations: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(each[name] for each in generations) for name in generations[0]}


def _grown(axis: str, size: int, stages: dict[str, float], before: Grown | None) -> Grown:
    seconds = sum(stages.values())

    def exponent(now: float, earlier: float) -> float:
        assert before is not None
        return math.log(now / earlier) / math.log(size / before.size)

    return Grown(
        axis=axis,
        size=size,
        stage_seconds=stages,
        seconds=seconds,
        exponent=None if before is None else exponent(seconds, before.seconds),
        stage_exponents={}
        if before is None
        else {name: exponent(spent, before.stage_seconds[name]) for name, spent in stages.items()},
    )
