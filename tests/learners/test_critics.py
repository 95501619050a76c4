"""Critics with layer normalisation, an option beyond the paper, against NumPy."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dcrl import keys
from dcrl.networks.perceptrons import act
from dcrl.variation.policy_gradient import PolicyGradientConfig, climb
from support.by_hand import Network, vector
from support.learner import learner
from support.variation import LAYERS, LEARNER, filled_archive, filled_replay


def test_a_normalised_critic_by_hand():
    subject, random = learner(critic_norm="layer"), np.random.default_rng(0)
    critic = subject.init(keys.root(1)).critics[0].online
    parts = random.normal(size=(7, 5)), random.uniform(-1, 1, (7, 3)), random.uniform(-1, 1, (7, 2))
    sizes = (10, *subject.config.critic_hidden, 1)
    by_hand = Network(sizes, vector(critic), normalised=True)
    expected = by_hand.forward(np.concatenate(parts, axis=1))[-1][:, 0]
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
