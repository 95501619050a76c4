"""Small runs of every algorithm on the point, played once and looked at by many tests."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys, simulators
from dcrl.algorithms import registry
from dcrl.algorithms.algorithm import Algorithm, ArchiveConfig, Setting
from dcrl.algorithms.ascii_me import ASCIIConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.algorithms.me_es import MEESConfig
from dcrl.algorithms.pga_me import PGAConfig
from dcrl.algorithms.qd_pg import QDPGConfig
from dcrl.algorithms.state import Report, State
from dcrl.algorithms.state_novelty import StateNoveltyConfig
from dcrl.archive import archive as archives
from dcrl.learners.td3 import TD3Config
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers
from dcrl.runs.training import iterate
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks.point import point_omni
from dcrl.tasks.task import Task
from dcrl.variation.action_sequence import ActionSequenceConfig
from dcrl.variation.evolution_strategy import EvolutionStrategyConfig
from dcrl.variation.iso_line import IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradientConfig

GENERATIONS = 4
ARCHIVE = ArchiveConfig(cells=64, cvt_samples=1000)
GA = IsoLineConfig(iso_sigma=0.2, line_sigma=0.5)  # the point is small and a test is short
PG = PolicyGradientConfig(policy_steps=5)
TD3 = TD3Config(critic_hidden=(16, 16), critic_steps=20, batch_size=32, replay_size=2000)
DCRL = DCRLConfig(ga_offspring=8, pg_offspring=5, ai_offspring=3, archive=ARCHIVE, ga=GA, pg=PG, td3=TD3)
ME = MEConfig(ga_offspring=16, archive=ARCHIVE, ga=GA)
SMALL: dict[str, Any] = {
    "dcrl_me": DCRL,
    "dcg_me": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None, actor_evaluations=4),
    "pga_me": PGAConfig(ga_offspring=8, pg_offspring=7, archive=ARCHIVE, ga=GA, pg=PG, td3=TD3),
    "qd_pg": QDPGConfig(
        ga_offspring=6,
        quality_offspring=4,
        diversity_offspring=4,
        diversity_critic_steps=8,
        archive=ARCHIVE,
        novelty=StateNoveltyConfig(novelty_capacity=300, novelty_steps=400),
        ga=GA,
        pg=PG,
        td3=TD3,
    ),
    "me": ME,
    "me_es": MEESConfig(
        evaluations_of_centre=3,
        generations_per_parent=2,
        archive=ARCHIVE,
        es=EvolutionStrategyConfig(es_samples=20, es_learning_rate=0.1),
    ),
    "ablation_ai": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None),
    "ablation_actor": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None, conditioned_actor=False),
    "ascii_me": ASCIIConfig(
        ga_offspring=8, ascii_offspring=8, archive=ARCHIVE, ga=GA, ascii=ActionSequenceConfig(ascii_steps=5)
    ),
}


def compose(config: Any, task: Task = point_omni) -> Algorithm:
    layers = policy_layers(task.observation_size, task.action_size, (16, 16))
    setting = Setting(
        simulator=simulators.make(task),
        layers=layers,
        descriptor=task.descriptor,
        descriptor_from_observation=task.descriptor_from_observation,
        horizon=task.horizon,
    )
    builders = {entry.config: entry.build for entry in registry.ALGORITHMS.values()}
    return builders[type(config)](setting, config)


@dataclass
class History:
    """A run, with a copy of everything at every generation."""

    algorithm: Algorithm
    states: list[State]
    reports: list[Report]


def snapshot(state: State) -> State:
    return dataclasses.replace(state, replay=copy.deepcopy(state.replay))


def history(config: Any, seed: int = 0, state: State | None = None) -> History:
    algorithm = compose(config)
    each = algorithm.generation_evaluations
    evaluations = algorithm.initial_evaluations + GENERATIONS * each + 3  # the rest is too little for a generation
    seen = [(snapshot(s), report) for s, report in iterate(algorithm, evaluations, seed, state=state)]
    return History(algorithm, [s for s, _ in seen], [report for _, report in seen])


original = cache(history)  # played once, looked at by many


def leaves(state: State) -> list[np.ndarray]:
    """Everything a state holds, as arrays."""
    counts = state.generation, state.evaluations, state.environment_steps, state.invalid
    archive = state.archive
    rest = jax.tree.leaves((state.learned, state.novelty, state.search, state.remembered))
    whole = (
        *counts,
        archive.centroids,
        archive.fitness,
        archive.descriptor,
        archive.genotype,
        *state.replay.arrays,
        *rest,
    )
    return [np.asarray(part) for part in whole]


def assert_same(a: State, b: State) -> None:
    for one, other in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_array_equal(one, other)


def diverging(allowed: jax.Array) -> Task:
    """The point, thrown out of the world from all starts but the allowed."""
    numbers = jax.random.key_data(allowed)

    def start(key: jax.Array, qpos0: jax.Array, qvel0: jax.Array) -> tuple[jax.Array, jax.Array]:
        known = (jax.random.key_data(key) == numbers).all(axis=-1).any()
        qpos, qvel = point_omni.start(key, qpos0, qvel0)
        return qpos, jnp.where(known, qvel, jnp.inf)

    return dataclasses.replace(point_omni, name="point_diverging", start=start)


def starts_of_generation(number: int) -> jax.Array:
    key = keys.generation(keys.root(0), number)
    streams = [keys.each(keys.stream(key, name), 16) for name in ("start", "centre")]
    return jnp.concatenate(streams)


def random_search(algorithm: Algorithm, count: int) -> archives.Archive:
    setting = algorithm.setting
    genotypes = np.asarray(jax.vmap(partial(init, setting.layers))(keys.each(keys.root(5), count)))
    starts = keys.each(keys.root(6), count)
    found = evaluate(setting.simulator, setting.descriptor, genotypes, starts, setting.layers, record=False)
    archive, _ = archives.add(
        archives.empty(algorithm.start(0)[0].archive.centroids, setting.layers.parameters),
        genotypes,
        found.fitness,
        found.descriptor,
    )
    return archive
