"""One generation of training: what it depends on, what it draws, and that it learns."""

from __future__ import annotations

import jax
import numpy as np

from dcrl import keys
from dcrl.learners import training
from dcrl.learners.replay import TERMINAL, Replay
from dcrl.learners.td3 import TD3, TD3State
from dcrl.types import Transitions
from support.learner import learner


def filled_replay(subject: TD3, episodes: int = 8, horizon: int = 6) -> Replay:
    random = np.random.default_rng(0)
    replay = Replay(subject.config.replay_size, 5, 3, subject.descriptor_size)
    transitions = Transitions(
        observation=random.normal(size=(episodes, horizon + 1, 5)).astype(np.float32),
        action=random.uniform(-1, 1, (episodes, horizon, 3)).astype(np.float32),
        reward=random.uniform(size=(episodes, horizon)).astype(np.float32),
        state_descriptor=np.zeros((episodes, horizon + 1, 2), np.float32),
        steps=random.integers(1, horizon + 1, episodes),
        terminated=np.arange(episodes) % 3 == 0,
    )
    target = random.uniform(-1, 1, (episodes, subject.descriptor_size)).astype(np.float32)
    replay.insert(transitions, np.ones(episodes, bool), np.ones(episodes, np.float32), target)
    return replay


def trained(subject: TD3, replay: Replay, seed: int = 1, start: int = 0) -> TD3State:
    return training.train(subject, subject.init(keys.root(start)), replay, keys.root(seed))


def same(a: TD3State, b: TD3State) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_training_is_a_function_of_state_buffer_and_key():
    subject = learner()
    replay = filled_replay(subject)
    first = trained(subject, replay)
    assert same(first, trained(subject, replay))
    assert not same(first, trained(subject, replay, seed=2))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(first))
    updates = [
        [int(leaf) for leaf in jax.tree.leaves(network.optimiser) if np.ndim(leaf) == 0]
        for network in (*first.critics, first.actor)
    ]
    assert updates == [[20], [20], [10]]  # as Adam counts them


def test_training_draws_only_what_was_inserted():
    subject = learner()
    clean, spoilt = filled_replay(subject), filled_replay(subject)
    assert spoilt.size < spoilt.capacity
    spoilt.observation[spoilt.size + 1 :] = np.nan  # the row after the last is looked up as its (unused) next state
    spoilt.action[spoilt.size :] = np.nan
    spoilt.reward[spoilt.size :] = np.nan
    assert same(trained(subject, clean), trained(subject, spoilt))


def test_training_smooths_target_actions():
    replay = filled_replay(learner())
    assert not same(trained(learner(), replay), trained(learner(smoothing_noise=0.0), replay))


def test_training_fits_the_critic_to_known_returns():
    """With every transition a fall, Q is the reward: a regression whose answer is known."""
    subject = learner(critic_steps=600, critic_learning_rate=1e-2, batch_size=24)
    replay = filled_replay(subject, episodes=24, horizon=1)
    replay.flags[:24] = TERMINAL
    state = trained(subject, replay)
    every = replay.gather(np.arange(24))
    for critic in state.critics:
        values = subject.value(critic.online, every.observation, every.action, every.target)
        np.testing.assert_allclose(values, every.reward, atol=0.05)
    greedy = subject.policy(state.actor.online, every.observation, every.target)
    fresh = subject.policy(subject.init(keys.root(0)).actor.online, every.observation, every.target)
    value = [
        float(subject.value(state.critics[0].online, every.observation, a, every.target).mean())
        for a in (fresh, greedy)
    ]
    assert value[1] > value[0] + 0.05  # and the actor climbs it


def test_updates_in_proportion_to_transitions():
    """As many updates as all transitions so far ask for, in units, and at least critic_steps per generation."""
    replay = filled_replay(learner())
    subject = learner(critic_steps=100, updates_per_transition=650.5 / replay.inserted)
    first = trained(subject, replay)
    assert critic_updates(first) == 600
    second = training.train(subject, first, replay, keys.root(2))  # 50 more are asked for: fewer than critic_steps
    assert critic_updates(second) == 700
    least = learner(critic_steps=600, updates_per_transition=1e-6)
    assert critic_updates(trained(least, replay)) == 600
    assert same(trained(least, replay), trained(learner(critic_steps=600), replay))


def critic_updates(state: TD3State) -> int:
    return int(next(leaf for leaf in jax.tree.leaves(state.critics[0].optimiser) if np.ndim(leaf) == 0))
