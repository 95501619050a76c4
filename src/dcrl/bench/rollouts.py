"""Measures rollouts against the machine's own limit: the same physics steps and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np

from dcrl import keys
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers
from dcrl.simulators.mujoco import STAGE, MujocoSimulator, start_states
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.engine import Batch, SimulationError
from dcrl.tasks.task import Task
from dcrl.types import Floats, Transitions


@dataclass(frozen=True, kw_only=True)
class RolloutSpeed:
    """How fast whole rollouts are, and how much of the time is physics. Medians over the repeats.

    A whole rollout is policies, physics, observations, rewards, descriptors and recording, from genotypes
    to an evaluation with its transitions. Bare physics is the same control steps of the same episodes as
    calls of `Batch.step` alone, on one persistent batch with the same number of threads.
    """

    task: str
    policies: int
    threads: int
    steps: int  # simulated control steps, over all policies
    rollout_seconds: tuple[float, ...]  # one per repeat
    bare_seconds: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """Whole rollout over bare physics, one per repeat; 1 would be a rollout that costs nothing but physics."""
        return tuple(whole / bare for whole, bare in zip(self.rollout_seconds, self.bare_seconds, strict=True))

    @property
    def ratio(self) -> float:
        return float(np.median(self.ratios))

    @property
    def steps_per_second(self) -> float:
        return self.steps / float(np.median(self.rollout_seconds))

    @property
    def microseconds_per_step(self) -> float:
        return 1e6 / self.steps_per_second


def measure_rollouts(
    tasks: tuple[Task, ...],
    policies: int,
    repeats: int,
    threads: int,
    progress: Callable[[str], None] = lambda line: None,
) -> list[RolloutSpeed]:
    """Measure freshly initialised policies on each task, whole and bare in turn, after one unmeasured round.

    Each repeat measures every task once, so that a slow moment of the machine affects all of them. `progress` is
    called with a line after each round.
    """
    for name, value in (("policies", policies), ("repeats", repeats), ("threads", threads)):
        if value < 1:
            raise ValueError(f"the number of {name} must be at least 1, got {value}")
    if not tasks:
        raise ValueError("a measurement needs at least one task, got none")
    times: list[list[tuple[float, float]]] = [[] for _ in tasks]
    with ExitStack() as opened:
        contests = [
            _Contest(task, policies, opened.enter_context(MujocoSimulator(task, threads)), threads) for task in tasks
        ]
        for repeat in range(repeats + 1):
            for contest, measured in zip(contests, times, strict=True):
                seconds = contest.round()
                if repeat:  # the first round compiles the start and fills the caches
                    measured.append(seconds)
                kind = f"repeat {repeat} of {repeats}" if repeat else "warm-up"
                progress(f"{contest.task.name}, {kind}: {seconds[0]:.2f} s, bare physics {seconds[1]:.2f} s")
    return [
        RolloutSpeed(
            task=contest.task.name,
            policies=policies,
            threads=threads,
            steps=contest.steps,
            rollout_seconds=tuple(whole for whole, _ in measured),
            bare_seconds=tuple(bare for _, bare in measured),
        )
        for contest, measured in zip(contests, times, strict=True)
    ]


class _Contest:
    """What the two sides of the comparison need on one task."""

    def __init__(self, task: Task, policies: int, simulator: MujocoSimulator, threads: int) -> None:
        self.task = task
        self.batch = Batch(task.model, policies, threads, persistent=True)
        self.layers = policy_layers(task.observation_size, task.action_size)
        self.genotypes = np.asarray(jax.jit(jax.vmap(partial(init, self.layers)))(keys.each(keys.root(1), policies)))
        self.starts = start_keys(range(policies), policies)
        self.simulator = simulator
        self.steps = 0

    def round(self) -> tuple[float, float]:
        """Seconds of one whole rollout and of its bare physics."""
        begin = time.perf_counter()
        played = self.simulator.play(self.genotypes, self.starts, self.layers, record=True)
        whole = time.perf_counter() - begin
        assert played.transitions is not None
        self.steps = int(played.steps.sum())
        return whole, bare_physics(self.task, self.batch, played.transitions, *start_states(self.task, self.starts))


def bare_physics(task: Task, batch: Batch, episodes: Transitions, qpos: Floats, qvel: Floats) -> float:
    """Seconds spent in `Batch.step` while the episodes' recorded actions are replayed from their start states."""
    batch.reset()
    batch.bind("qpos")[:], batch.bind("qvel")[:] = qpos, qvel
    batch.forward(None, STAGE)
    control = batch.bind("ctrl")
    centre, half = task.control_range
    live = np.arange(len(episodes.steps))
    seconds = 0.0
    for step in range(int(episodes.steps.max())):
        live = live[episodes.steps[live] > step]
        control[live] = centre + half * episodes.action[live, step]
        begin = time.perf_counter()
        with suppress(SimulationError):  # an episode that diverged then diverges now
            batch.step(live, task.integration.substeps, STAGE)
        seconds += time.perf_counter() - begin
    return seconds
