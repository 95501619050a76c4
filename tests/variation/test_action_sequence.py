"""Action-sequence variation against gradients and Adam written out by hand, and the episodes it learns from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcrl import keys
from dcrl.archive.episodes import Episodes, Remembered, episodes_of, remember, rewards_to_go
from dcrl.archive.selection import select
from dcrl.types import Transitions
from dcrl.variation.action_sequence import ActionSequence, ActionSequenceConfig, cosine, follow
from dcrl.variation.operator import Sources
from support.by_hand import Adam, Network, doubles
from support.variation import LAYERS, SPACE, filled_archive

CONFIG = ActionSequenceConfig(ascii_steps=4, ascii_learning_rate=0.05)


def random_episodes(count: int, horizon: int, seed: int) -> Episodes:
    random = np.random.default_rng(seed)
    steps = random.integers(1, horizon + 1, count).astype(np.int32)
    transitions = Transitions(
        observation=random.normal(size=(count, horizon + 1, 5)).astype(np.float32),
        action=random.uniform(-1, 1, (count, horizon, 3)).astype(np.float32),
        reward=random.normal(size=(count, horizon)).astype(np.float32),
        state_descriptor=np.full((count, horizon + 1, 2), np.nan, np.float32),
        steps=steps,
        terminated=np.ones(count, bool),
    )
    for b, length in enumerate(steps):
        transitions.observation[b, length + 1 :] = np.nan
        transitions.action[b, length:] = np.nan
        transitions.reward[b, length:] = np.nan
    return episodes_of(transitions, np.ones(count, bool), 0.9)


def followed_by_hand(config, parent, states, actions, weight):
    """`config.ascii_steps` steps of one parent, in NumPy; only the steps that are given."""
    network, adam = Network((5, 14, 10, 3), doubles(parent)), Adam(config.ascii_learning_rate)
    for _ in range(config.ascii_steps):
        values = network.forward(doubles(states))
        policy = np.tanh(values[-1])
        kernel = np.exp(-np.square(actions - policy).sum(axis=1) / (2 * config.ascii_sigma**2))
        counts = (weight > 0) | (kernel > 1 - config.ascii_clip)
        of_policy = (weight * counts * kernel)[:, None] * (actions - policy) / config.ascii_sigma**2 / len(weight)
        gradient, _ = network.backward(values, -of_policy * (1 - policy**2))
        network = Network(network.sizes, network.parameters + adam.step(gradient))
    return network.parameters


def test_rewards_to_go_by_hand():
    found = rewards_to_go(np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 8.0]]), 0.5)
    np.testing.assert_array_equal(found, [[1 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4, 4], [2, 4, 8]])


def test_nothing_is_kept_after_the_end_and_nothing_of_invalid_episodes():
    found = random_episodes(6, 9, seed=0)
    for b, length in enumerate(found.steps):
        assert all((part[b, length:] == 0).all() for part in found[:3])
        assert (found.observation[b, :length] != 0).all()
    transitions = Transitions(
        observation=np.ones((2, 4, 5), np.float32),
        action=np.ones((2, 3, 3), np.float32),
        reward=np.ones((2, 3), np.float32),
        state_descriptor=np.ones((2, 4, 2), np.float32),
        steps=np.array([3, 2]),
        terminated=np.zeros(2, bool),
    )
    kept = episodes_of(transitions, np.array([False, True]), 1.0)
    assert kept.steps.tolist() == [0, 2]
    assert kept.reward_to_go.tolist() == [[0, 0, 0], [2, 1, 0]]


def test_new_elites_bring_their_episodes():
    before = Remembered(elites=random_episodes(7, 9, seed=1), latest=random_episodes(4, 9, seed=2))
    latest = random_episodes(4, 9, seed=3)
    after = remember(before, latest, np.array([3, 0]), np.array([5, 2]))
    for part in range(4):
        np.testing.assert_array_equal(after.elites[part][[5, 2]], latest[part][[3, 0]])
        others = [0, 1, 3, 4, 6]
        np.testing.assert_array_equal(after.elites[part][others], before.elites[part][others])
        np.testing.assert_array_equal(after.latest[part], latest[part])


def test_following_is_its_formula():
    random, parents = np.random.default_rng(4), filled_archive().genotype[:5]
    states = random.normal(size=(5, 20, 5)).astype(np.float32)
    actions = random.uniform(-1, 1, (5, 20, 3)).astype(np.float32)
    weight = random.normal(size=(5, 20)).astype(np.float32)
    weight[1, 12:] = np.nan
    found = follow(LAYERS, CONFIG, parents, states, actions, weight)
    for b, parent in enumerate(parents):
        known = ~np.isnan(weight[b])
        expected = followed_by_hand(CONFIG, parent, states[b][known], actions[b][known], weight[b][known])
        np.testing.assert_allclose(found[b], expected, atol=2e-3)
        assert np.abs(found[b] - parent).max() > 0.05


def test_the_operator_weighs_states_and_gains():
    archive, key = filled_archive(), keys.root(7)
    elites, latest = random_episodes(60, 30, seed=5), random_episodes(8, 30, seed=6)
    latest.steps[2] = 0
    operator = ActionSequence(count=6, layers=LAYERS, descriptor=SPACE, config=CONFIG)
    offspring = operator.vary(Sources(archive=archive, remembered=Remembered(elites=elites, latest=latest)), key)
    assert np.isnan(offspring.target).all()
    cells = select(archive, keys.stream(key, "parents"), 6)
    matched = 0
    for genotype, cell in zip(offspring.genotype, cells, strict=True):
        candidates = []
        for b in (0, 1, 3, 4, 5, 6, 7):
            both = min(elites.steps[cell], latest.steps[b])
            mine, other = elites.observation[cell, :both], latest.observation[b, :both]
            gain = latest.reward_to_go[b, :both] - elites.reward_to_go[cell, :both]
            weight = np.maximum(0.25, cosine(mine, other)) * gain
            candidates.append(followed_by_hand(CONFIG, archive.genotype[cell], other, latest.action[b, :both], weight))
        matched += min(np.abs(genotype - candidate).max() for candidate in candidates) < 1e-3
    assert matched == 6


def test_without_a_valid_episode_parents_are_copied():
    archive = filled_archive()
    latest = random_episodes(3, 9, seed=0)._replace(steps=np.zeros(3, np.int32))
    remembered = Remembered(elites=random_episodes(60, 9, seed=1), latest=latest)
    operator = ActionSequence(count=4, layers=LAYERS, descriptor=SPACE)
    offspring = operator.vary(Sources(archive=archive, remembered=remembered), keys.root(0))
    parents = select(archive, keys.stream(keys.root(0), "parents"), 4)
    np.testing.assert_array_equal(offspring.genotype, archive.genotype[parents])


def test_impossible_hyperparameters_are_refused():
    with pytest.raises(ValueError, match="ascii_sigma must be above 0"):
        dataclasses.replace(CONFIG, ascii_sigma=0.0)
