"""An algorithm on trial: small runs of it on the point mass, whose every generation is kept."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import Algorithm, ArchiveConfig, Setting
from dcrl.algorithms.state import Report, State
from dcrl.algorithms.state_novelty import StateNoveltyConfig
from dcrl.archive import archive as archives
from dcrl.check.findings import FaultError
from dcrl.learners.td3 import TD3Config
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import policy_layers
from dcrl.runs.iteration import iterate
from dcrl.simulators.rollouts import evaluate
from dcrl.simulators.simulator import Simulator
from dcrl.tasks.point import point_omni
from dcrl.tasks.task import Task
from dcrl.types import Array
from dcrl.variation.action_sequence import ActionSequenceConfig
from dcrl.variation.evolution_strategy import EvolutionStrategyConfig
from dcrl.variation.iso_line import IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradientConfig

GENERATIONS = 4
HIDDEN = (16, 16)
# Small enough for seconds; mutations are large, because the point is small and a trial is short
SMALL = (
    ArchiveConfig(cells=64, cvt_samples=1000),
    IsoLineConfig(iso_sigma=0.2, line_sigma=0.5),
    PolicyGradientConfig(policy_steps=5),
    TD3Config(critic_hidden=(16, 16), critic_steps=20, batch_size=32, replay_size=2000),
    EvolutionStrategyConfig(es_samples=20, es_learning_rate=0.1),
    StateNoveltyConfig(novelty_capacity=300, novelty_steps=400),
    ActionSequenceConfig(ascii_steps=5),
)
SHARE = 16  # one in so many policies per generation remains in a small configuration
FEW = 32  # policies; fewer are left as they are


@dataclass(frozen=True)
class History:
    """A run, with a copy of everything at every generation."""

    algorithm: Algorithm
    states: list[State]
    reports: list[Report]


@dataclass(frozen=True)
class Trial:
    """An algorithm with a configuration, and the simulator of the point; its first run is played once."""

    build: Callable[[Setting, Any], Algorithm]
    config: Any
    simulator: Simulator
    task: Task = point_omni

    def algorithm(self, simulator: Simulator | None = None) -> Algorithm:
        setting = Setting(
            simulator=self.simulator if simulator is None else simulator,
            layers=policy_layers(self.task.observation_size, self.task.action_size, HIDDEN),
            descriptor=self.task.descriptor,
            descriptor_from_observation=self.task.descriptor_from_observation,
            horizon=self.task.horizon,
        )
        return self.build(setting, self.config)

    def play(self, seed: int = 0, state: State | None = None) -> History:
        """A few generations from the start, or the rest of them from `state`."""
        algorithm = self.algorithm()
        each = algorithm.generation_evaluations
        budget = (
            algorithm.initial_evaluations + GENERATIONS * each + each - 1
        )  # the rest is too little for a generation
        seen = [(snapshot(s), report) for s, report in iterate(algorithm, budget, seed, state=state)]
        return History(algorithm, [s for s, _ in seen], [report for _, report in seen])

    @cached_property
    def run(self) -> History:
        return self.play()


def small(build: Callable[[Setting, Any], Algorithm], config: Any, simulator: Simulator) -> Any:
    """The configuration with small learners and archives, and a sixteenth of the policies per generation.

    A number of policies is a whole number whose change changes the algorithm's evaluations.
    """
    config = _with_small_parts(config)
    before = _evaluations(build, config, simulator)
    for path, value in _whole_numbers(config):
        try:
            reduced = _replaced(config, path, max(1, value // SHARE))
            after = _evaluations(build, reduced, simulator)
        except (FaultError, ValueError):  # not a value that it can have
            continue
        if after != before:
            config, before = reduced, after
    return config


def _evaluations(build: Callable[[Setting, Any], Algorithm], config: Any, simulator: Simulator) -> tuple[int, int]:
    built = Trial(build, config, simulator).algorithm()
    return built.initial_evaluations, built.generation_evaluations


def _with_small_parts(config: Any) -> Any:
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        known = next((each for each in SMALL if type(each) is type(value)), None)
        if known is not None:
            changed[field.name] = known
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed[field.name] = _with_small_parts(value)
    return dataclasses.replace(config, **changed)


def _whole_numbers(config: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    """The larger whole numbers of a configuration, and of those in it that are not small already, with their paths."""
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if type(value) is int and value >= FEW:
            yield (*path, field.name), value
        elif dataclasses.is_dataclass(value) and value not in SMALL:
            yield from _whole_numbers(value, (*path, field.name))


def _replaced(config: Any, path: tuple[str, ...], value: int) -> Any:
    name, *rest = path
    return dataclasses.replace(
        config, **{name: _replaced(getattr(config, name), tuple(rest), value) if rest else value}
    )


def snapshot(state: State) -> State:
    """A copy; the replay buffer of a run is written in place."""
    return dataclasses.replace(state, replay=copy.deepcopy(state.replay))


def leaves(state: State) -> list[Array]:
    """Everything a state holds, as arrays."""
    archive = state.archive
    counts = (state.generation, state.evaluations, state.environment_steps, state.invalid)
    arrays = (archive.centroids, archive.fitness, archive.descriptor, archive.genotype, *state.replay.arrays)
    rest = jax.tree.leaves((state.learned, state.novelty, state.search, state.remembered))
    return [np.asarray(part) for part in (*counts, *arrays, *rest)]


def is_same(a: State, b: State) -> bool:
    """Whether two states are equal, byte by byte."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return all(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True) for one, other in pairs)


def diverging(allowed: jax.Array) -> Task:
    """The point, thrown out of the world from all starts but the allowed."""
    numbers = jax.random.key_data(allowed)

    def start(key: jax.Array, qpos0: jax.Array, qvel0: jax.Array) -> tuple[jax.Array, jax.Array]:
        known = (jax.random.key_data(key) == numbers).all(axis=-1).any()
        qpos, qvel = point_omni.start(key, qpos0, qvel0)
        return qpos, jnp.where(known, qvel, jnp.inf)

    return dataclasses.replace(point_omni, name="point_diverging", start=start)


def starts_of_generation_0(algorithm: Algorithm) -> jax.Array:
    """The start keys of the random policies."""
    state, starts, report = algorithm.empty_state(0), [], None
    while report is None:
        asked = algorithm.ask(state, 0)
        starts.append(asked.starts)
        state, report = algorithm.tell(asked, [algorithm.setting.evaluate(asked)])
    return jnp.concatenate(starts)


def random_search(algorithm: Algorithm, count: int) -> archives.Archive:
    """An archive of as many random policies."""
    setting = algorithm.setting
    genotypes = initial_policies(setting.layers, 5, count)
    starts = keys.each(keys.root(6), count)
    found = evaluate(setting.simulator, setting.descriptor, genotypes, starts, setting.layers, record=False)
    empty = algorithm.empty_state(0).archive
    return archives.add(empty, genotypes, found.fitness, found.descriptor)[0]
