"""The reward for moving towards the target, and random targets: by hand, stored, resumed exactly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcrl import keys
from dcrl.algorithms.approach import ApproachConfig, approach
from dcrl.learners.replay import Replay
from dcrl.tasks.point import point_omni
from dcrl.types import Transitions
from dcrl.variation.actor_injection import ActorInjectionConfig
from support.generations import DCRL, assert_same, compose, history, original, snapshot

WEIGHTED = dataclasses.replace(
    DCRL,
    approach=ApproachConfig(approach_weight=50.0),
    td3=dataclasses.replace(DCRL.td3, rate_decay=10),
    ai=ActorInjectionConfig(injected="target"),
)
SETTING = compose(DCRL).setting
UNSEEN = dataclasses.replace(SETTING, descriptor_from_observation=None)  # positions are stored with the transitions
HIGH = np.array(point_omni.descriptor.high)
STEPS = np.array([3, 4])
REWARD = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture(params=[SETTING, UNSEEN], ids=["observed", "stored"])
def setting(request):
    return request.param


def played(setting) -> tuple[Replay, np.ndarray]:
    """A buffer with an episode of 3 steps that fell and one of 4 that did not; normalised positions (2, 5, 2)."""
    position = np.random.default_rng(3).uniform(-1, 1, (2, 5, 2)).astype(np.float32)
    observation = np.zeros((2, 5, SETTING.layers.sizes[0]), np.float32)
    observation[..., :2] = position
    replay = Replay(7, observation.shape[-1], 2, 2, state_size=0 if setting.descriptor_from_observation else 2)
    transitions = Transitions(
        observation=observation,
        action=np.zeros((2, 4, 2), np.float32),
        reward=REWARD,
        state_descriptor=position * HIGH.astype(np.float32),
        steps=STEPS,
        terminated=np.array([True, False]),
    )
    target = np.array([[0.5, 0.5], [-1.0, 0.0]], np.float32)
    replay.insert(transitions, np.ones(2, bool), np.ones(2, np.float32), target)
    return replay, position


def rewards_by_hand(position, target, weight):
    """(7,) of the stored rows, for the target of each row (7, 2)."""
    found = []
    for episode, steps in enumerate(STEPS):
        for step in range(steps):
            goal = target[len(found)]
            before = np.sqrt(((position[episode, step] - goal) ** 2).sum())
            after = np.sqrt(((position[episode, step + 1] - goal) ** 2).sum())
            closer = 0 if step == steps - 1 else before - after  # where the last step leads is not stored
            found.append(REWARD[episode, step] - 0.5 * np.mean([0, 1, 2, 4, 5, 6, 7]) + weight * closer)
    return found


def relabelled(setting, replay, random_targets, *parts, seed=0):
    config = ApproachConfig(approach_weight=50.0, centring=0.5, random_targets=random_targets)
    subject = approach(setting, config)
    relabel = subject.relabel(replay, keys.root(seed))
    found = [relabel(replay.gather(part), part) for part in parts]
    return [np.concatenate([getattr(each, name) for each in found]) for name in ("reward", "target")]


def test_the_reward_by_hand(setting):
    replay, position = played(setting)
    reward, target = relabelled(setting, replay, 0.0, np.arange(7))
    np.testing.assert_array_equal(target, replay.target)
    np.testing.assert_allclose(reward, rewards_by_hand(position, target, 50.0), rtol=1e-4, atol=1e-4)
    assert reward.dtype == target.dtype == np.float32


def test_random_targets_get_the_reward_of_the_way_to_them(setting):
    replay, position = played(setting)
    reward, target = relabelled(setting, replay, 1.0, np.arange(7))
    assert (np.abs(target) <= 1).all()
    assert len(np.unique(target)) == target.size
    np.testing.assert_allclose(reward, rewards_by_hand(position, target, 50.0), rtol=1e-4, atol=1e-4)


def test_a_share_of_the_targets_is_random():
    replay, _ = played(SETTING)
    rows = np.tile(np.arange(7), 300)
    _, target = relabelled(SETTING, replay, 0.3, rows)
    kept = (target == replay.target[rows]).all(axis=1)
    assert 0.65 < kept.mean() < 0.75
    drawn = target[~kept]
    assert (np.abs(drawn.mean(axis=0)) < 0.1).all()
    assert (np.abs(drawn).max(axis=0) > 0.95).all()


def test_what_is_drawn_depends_on_the_key_and_not_on_the_parts():
    replay, _ = played(SETTING)
    rows = np.arange(7)
    whole = relabelled(SETTING, replay, 0.5, rows)
    np.testing.assert_array_equal(whole[1], relabelled(SETTING, replay, 0.5, rows[:3], rows[3:])[1])
    assert (whole[1] != relabelled(SETTING, replay, 0.5, rows, seed=1)[1]).any()


def test_rewards_are_stored_unscaled():
    """The point's episodes have 50 steps: their sums are the fitnesses, whatever their targets."""
    state = original(WEIGHTED).states[1]
    rewards = state.replay.reward[: state.replay.size].reshape(-1, 50).sum(axis=1)
    for fitness in state.archive.fitness[state.archive.occupied]:
        assert np.isclose(rewards, fitness, rtol=1e-4).any()
    scaled = original(DCRL).states[1].replay
    assert scaled.reward[: scaled.size].sum() < rewards.sum()


def test_learning_differs_and_resumes_exactly():
    run = original(WEIGHTED)
    assert (
        run.states[1].learned[0].critics[0].online[0][0] != original(DCRL).states[1].learned[0].critics[0].online[0][0]
    ).any()
    resumed = history(WEIGHTED, state=snapshot(run.states[2]))
    assert resumed.reports == run.reports[3:]
    assert_same(resumed.states[-1], run.states[-1])


def test_it_is_off_by_default_and_where_the_descriptor_is_a_mean():
    assert compose(DCRL).approach is None
    assert approach(SETTING, ApproachConfig(approach_weight=1.0)) is not None
    mean = dataclasses.replace(SETTING, descriptor=dataclasses.replace(SETTING.descriptor, over="mean"))
    assert approach(mean, ApproachConfig(approach_weight=1.0)) is None


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"approach_weight must be .*, got 0"):
        ApproachConfig(approach_weight=0.0)
    with pytest.raises(ValueError, match=r"random_targets must lie in \[0, 1\], got 1\.5"):
        ApproachConfig(random_targets=1.5)
