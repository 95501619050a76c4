"""A small archive, replay buffer and learner for the operators to work on."""

from __future__ import annotations

import numpy as np

from dcrl import keys
from dcrl.archive.archive import Archive, add, empty
from dcrl.learners import training
from dcrl.learners.replay import Replay
from dcrl.learners.td3 import TD3, TD3Config
from dcrl.networks.policies import policy_layers
from dcrl.types import Descriptor, Transitions
from dcrl.variation.policy_gradient import PolicyGradientConfig, climb
from support.by_hand import vector

SPACE = Descriptor(names=("x", "y"), unit="m", low=(-30.0, 0.0), high=(30.0, 1.0), over="last")
LAYERS = policy_layers(5, 3, (14, 10))
LEARNER = TD3(
    observation_size=5,
    action_size=3,
    descriptor_size=2,
    actor_hidden=(14, 10),
    config=TD3Config(critic_hidden=(16, 12), batch_size=9, critic_steps=20),
)


def filled_archive(parameters: int = LAYERS.parameters, elites: int = 30) -> Archive:
    random = np.random.default_rng(0)
    low, high = np.array(SPACE.low), np.array(SPACE.high)
    centroids = random.uniform(low, high, (60, 2)).astype(np.float32)
    genotype = 0.5 * random.normal(size=(elites, parameters)).astype(np.float32)
    descriptor = random.uniform(low, high, (elites, 2)).astype(np.float32)
    return add(empty(centroids, parameters), genotype, random.normal(size=elites), descriptor)[0]


def filled_replay() -> Replay:
    random = np.random.default_rng(1)
    transitions = Transitions(
        observation=random.normal(size=(6, 11, 5)).astype(np.float32),
        action=random.uniform(-1, 1, (6, 10, 3)).astype(np.float32),
        reward=random.uniform(size=(6, 10)).astype(np.float32),
        state_descriptor=np.zeros((6, 11, 2), np.float32),
        steps=np.full(6, 10),
        terminated=np.zeros(6, bool),
    )
    replay = Replay(500, 5, 3, 2)
    replay.insert(transitions, np.ones(6, bool), np.ones(6, np.float32), np.zeros((6, 2), np.float32))
    return replay


def trained_and_climbed() -> dict[str, np.ndarray]:
    """Networks before and after training, and parents after policy-gradient steps."""
    random = np.random.default_rng(0)
    parents = random.normal(size=(11, LAYERS.parameters)).astype(np.float32)
    conditions = random.uniform(-1, 1, (11, 2)).astype(np.float32)
    seen = random.normal(size=(6, 9, 5)).astype(np.float32)
    start = LEARNER.init(keys.root(0))
    state = training.train(LEARNER, start, filled_replay(), keys.root(1))
    config = PolicyGradientConfig(policy_steps=6)
    climbed = climb(LEARNER, LAYERS, config, start.critics[0].online, parents, conditions, seen)
    return {"climbed": np.asarray(climbed), "trained": vector(state), "before": vector(start)}
