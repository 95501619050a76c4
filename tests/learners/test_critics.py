"""Options of the critics beyond the paper: layer normalisation and n-step returns, against NumPy."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dcrl import keys
from dcrl.learners.replay import Replay
from dcrl.learners.td3 import bellman_target
from dcrl.learners.training import train
from dcrl.networks.perceptrons import act
from dcrl.types import Transitions
from dcrl.variation.policy_gradient import PolicyGradientConfig, climb
from support.by_hand import doubles
from support.learner import learner
from support.variation import LAYERS, LEARNER, filled_archive, filled_replay

DISCOUNT = 0.8


def test_a_normalised_critic_by_hand():
    subject, random = learner(critic_norm="layer"), np.random.default_rng(0)
    critic = subject.init(keys.root(1)).critics[0].online
    parts = random.normal(size=(7, 5)), random.uniform(-1, 1, (7, 3)), random.uniform(-1, 1, (7, 2))
    hidden = np.concatenate(parts, axis=1)
    *layers, (kernel, bias) = critic
    for middle_kernel, middle_bias in layers:
        before = hidden @ doubles(middle_kernel) + doubles(middle_bias)
        before -= before.mean(axis=1, keepdims=True)
        hidden = np.maximum(before / np.sqrt(before.var(axis=1, keepdims=True) + 1e-5), 0)
    expected = (hidden @ doubles(kernel) + doubles(bias))[:, 0]
    found = subject.value(critic, *(jnp.asarray(part, jnp.float32) for part in parts))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert np.abs(found - learner().value(critic, *map(jnp.asarray, parts))).max() > 0.1  # and not as without


def test_policy_gradients_climb_a_normalised_critic():
    """The operator computes the critic's first layer in parts; here the critic is differentiated whole."""
    subject = dataclasses.replace(LEARNER, config=dataclasses.replace(LEARNER.config, critic_norm="layer"))
    config = PolicyGradientConfig(policy_steps=4, policy_learning_rate=0.05)
    critic, replay = subject.init(keys.root(0)).critics[0].online, filled_replay()
    seen = replay.observation[np.arange(36).reshape(4, 9)]
    parents, conditions = filled_archive().genotype[:2], np.array([[0.5, -0.5], [-0.9, 0.1]], np.float32)
    found = climb(subject, LAYERS, config, critic, parents, conditions, seen)
    optimiser = optax.adam(0.05)

    @jax.jit
    def step(policy, state, batch, condition):
        target = jnp.broadcast_to(condition, (9, 2))
        slope = jax.grad(lambda policy: -subject.value(critic, batch, act(policy, batch), target).mean())(policy)
        change, state = optimiser.update(slope, state)
        return optax.apply_updates(policy, change), state

    for parent, condition, offspring in zip(parents, conditions, found, strict=True):
        policy = LAYERS.split(jnp.asarray(parent))
        state = optimiser.init(policy)
        for batch in seen:
            policy, state = step(policy, state, batch, condition)
        expected = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(policy)])
        np.testing.assert_allclose(offspring, expected, atol=1e-4)


def episodes() -> tuple[Replay, list[tuple[int, int, bool]]]:
    """A ring that has wrapped, and its episodes as (first row, steps, whether it fell)."""
    random, lengths, fell = np.random.default_rng(3), [4, 1, 6, 5, 2], [True, False, False, True, False]
    transitions = Transitions(
        observation=random.normal(size=(5, 7, 5)).astype(np.float32),
        action=random.normal(size=(5, 6, 3)).astype(np.float32),
        reward=random.normal(size=(5, 6)).astype(np.float32),
        state_descriptor=np.zeros((5, 7, 2), np.float32),
        steps=np.array(lengths),
        terminated=np.array(fell),
    )
    replay = Replay(16, 5, 3, 2)  # 18 transitions: the first two are overwritten
    replay.insert(transitions, np.ones(5, bool), np.ones(5, np.float32), np.zeros((5, 2), np.float32))
    firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return replay, list(zip(firsts.tolist(), lengths, fell, strict=True))


@pytest.mark.parametrize("steps", [2, 3, 9])
def test_returns_by_hand(steps):
    replay, known = episodes()
    rows = np.arange(2, 18) % 16
    found = replay.gather_returns(rows, steps, DISCOUNT)
    at = 0
    for first, length, fell in known:
        for t in range(length):
            if first + t < 2:
                continue
            last = min(t + steps, length)  # the step after the last that counts
            if not fell and last == length and t < length - 1:
                last = length - 1  # the observation after the time limit is unknown
            row = [(first + k) % 16 for k in range(t, last)]
            expected = sum(DISCOUNT**k * replay.reward[r] for k, r in enumerate(row))
            assert found.reward[at] == pytest.approx(expected, abs=1e-6)
            assert found.discount[at] == pytest.approx(DISCOUNT ** (last - t))
            assert found.terminal[at] == (fell and last == length)
            assert found.truncated[at] == (not fell and t == length - 1)
            if not found.terminal[at] and not found.truncated[at]:
                np.testing.assert_array_equal(found.next_observation[at], replay.observation[(first + last) % 16])
            np.testing.assert_array_equal(found.observation[at], replay.observation[(first + t) % 16])
            at += 1
    assert at == 16


def test_one_step_returns_are_transitions():
    replay, _ = episodes()
    rows = np.arange(16)
    plain, returns = replay.gather(rows), replay.gather_returns(rows, 1, DISCOUNT)
    for name in ("observation", "action", "reward", "target", "terminal", "truncated"):
        np.testing.assert_allclose(getattr(returns, name), getattr(plain, name))
    subject = learner(discount=DISCOUNT)
    noise = np.zeros((16, 3), np.float32)
    targets = [bellman_target(subject, subject.init(keys.root(0)), samples, noise) for samples in (plain, returns)]
    kept = (plain.truncated == 0) & (plain.terminal == 0)
    np.testing.assert_allclose(*(np.asarray(y)[kept] for y in targets), rtol=1e-6)


def test_training_uses_the_returns():
    replay = filled_replay()
    one, three = (learner(return_steps=steps, critic_steps=4) for steps in (1, 3))
    state = one.init(keys.root(0))
    found = [train(subject, state, replay, keys.root(1)).critics[0].online[0][0] for subject in (one, three)]
    assert np.isfinite(found).all()
    assert np.abs(found[0] - found[1]).max() > 1e-5
