"""Novelty and its memory against plain loops; the replay buffer's step descriptors."""

from __future__ import annotations

import numpy as np
import pytest

from dcrl.algorithms.registry import ALGORITHMS
from dcrl.archive.novelty import diversity_reward, nearest, novelty, offer
from dcrl.learners.replay import Replay
from dcrl.tasks import registry
from dcrl.types import Transitions
from support.generations import SMALL, compose


def by_hand(memory: np.ndarray, point: np.ndarray, k: int) -> list[float]:
    return sorted(float(np.sqrt(((entry - point) ** 2).sum())) for entry in memory.astype(np.float64))[:k]


@pytest.mark.parametrize("size", [1, 3, 5, 40])
def test_novelty_is_the_mean_distance_to_the_nearest(size):
    random = np.random.default_rng(0)
    memory, points = random.normal(size=(size, 2)), random.normal(size=(7, 2))
    expected = np.array([by_hand(memory, point, 5) for point in points])
    np.testing.assert_allclose(nearest(memory, points, 5), expected, rtol=1e-6)
    np.testing.assert_allclose(novelty(memory, points, 5), expected.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(diversity_reward(memory, points, 5), np.square(expected).mean(axis=1), rtol=1e-5)


def test_novelty_without_a_memory_is_0_and_without_a_descriptor_nan():
    points = np.array([[0.0, 1.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(novelty(np.zeros((0, 2)), points, 5), [0, np.nan])
    np.testing.assert_array_equal(diversity_reward(np.zeros((0, 2)), points[:1], 5), [0])


def offered_by_hand(memory: np.ndarray, states: np.ndarray, threshold: float, capacity: int) -> np.ndarray:
    kept = list(memory)
    for state in states:
        if all(np.linalg.norm(state - other) > threshold for other in kept):
            kept.append(state)
    return np.array(kept[-capacity:], np.float32).reshape(-1, memory.shape[1])


@pytest.mark.parametrize("capacity", [10, 10_000])
def test_a_memory_takes_in_what_is_far_from_all_it_holds(capacity):
    random = np.random.default_rng(1)
    memory = np.zeros((0, 2), np.float32)
    for _ in range(4):
        states = random.uniform(-1, 1, (300, 2)).astype(np.float32)
        expected = offered_by_hand(memory, states, 0.2, capacity)
        memory = offer(memory, states, 0.2, capacity)
        np.testing.assert_array_equal(memory, expected)
    assert len(memory) == 10 if capacity == 10 else 40 < len(memory) < 100


def test_feet_that_touch_or_not_fill_the_memory_with_at_most_every_combination():
    states = np.random.default_rng(2).integers(0, 2, (1000, 2)).astype(np.float32)
    memory = offer(np.zeros((0, 2), np.float32), states, 0.1, 10_000)
    assert {tuple(state) for state in memory} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    again = offer(memory, states, 0.1, 10_000)
    np.testing.assert_array_equal(again, memory)
    reward = diversity_reward(memory, states, 5)  # to all four: itself 0, two at distance 1, one at sqrt 2
    np.testing.assert_allclose(reward, np.full(1000, (0 + 1 + 1 + 2) / 4))


def episode(states: np.ndarray) -> Transitions:
    steps = len(states)
    return Transitions(
        observation=np.zeros((1, steps + 1, 3), np.float32),
        action=np.zeros((1, steps, 2), np.float32),
        reward=np.zeros((1, steps), np.float32),
        state_descriptor=np.concatenate([states, states[-1:]])[None].astype(np.float32),
        steps=np.array([steps]),
        terminated=np.array([True]),
    )


def insert(replay: Replay, states: np.ndarray) -> None:
    replay.insert(episode(states), np.array([True]), np.ones(1, np.float32), np.zeros((1, 0), np.float32))


def test_a_replay_buffer_keeps_contacts_for_nothing_and_other_step_descriptors_in_a_column():
    random = np.random.default_rng(3)
    replay, plain = Replay(100, 3, 2, 0, state_size=4), Replay(100, 3, 2, 0)
    size = sum(array.nbytes for array in plain.arrays)
    contacts = random.integers(0, 2, (60, 4)).astype(np.float32)
    insert(replay, contacts)
    assert sum(array.nbytes for array in replay.arrays) == size
    np.testing.assert_array_equal(replay.states(np.arange(60)), contacts)
    gathered = replay.gather(np.arange(60))
    np.testing.assert_array_equal(gathered.terminal, np.arange(60) == 59)
    assert not gathered.truncated.any()
    others = random.normal(size=(60, 4)).astype(np.float32)
    insert(replay, others)  # goes round the ring's end
    np.testing.assert_array_equal(replay.states(np.arange(20, 60)), contacts[20:])
    np.testing.assert_array_equal(replay.states(np.arange(60, 120) % 100), others)
    more = random.integers(0, 2, (10, 4)).astype(np.float32)
    insert(replay, more)
    np.testing.assert_array_equal(replay.states(np.arange(20, 30)), more)


@pytest.mark.parametrize("name", [name for name in registry.BUILT_IN if name != "point_omni"])
def test_qd_pg_needs_no_more_replay_memory_than_pga_me(name, episodes):
    task, evaluation = episodes("mujoco", name)
    sizes = {}
    for algorithm in ("qd_pg", "pga_me"):
        replay = compose(SMALL[algorithm], task)._replay()  # without the networks, which take long to compile
        count = len(evaluation.steps)
        replay.insert(evaluation.transitions, evaluation.valid, np.ones(count), np.zeros((count, 0)))
        sizes[algorithm] = sum(array.nbytes for array in replay.arrays)
    assert sizes["qd_pg"] <= sizes["pga_me"]
    assert ALGORITHMS["qd_pg"].default.td3.replay_size == ALGORITHMS["pga_me"].default.td3.replay_size


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_the_descriptor_computed_from_an_observation_is_the_step_descriptor(name, episodes):
    task, evaluation = episodes("mujoco", name)
    if task.descriptor_from_observation is None:
        assert task.descriptor.over == "mean"
        return
    transitions = evaluation.transitions
    for b in np.flatnonzero(evaluation.valid):
        rows = slice(0, transitions.steps[b] + 1)
        np.testing.assert_allclose(
            task.descriptor_from_observation(transitions.observation[b, rows]),
            transitions.state_descriptor[b, rows],
            rtol=1e-5,
            atol=1e-6,
        )
