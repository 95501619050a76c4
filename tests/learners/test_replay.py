"""The replay buffer against a plain list of the simulated steps, and what it costs to insert."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dcrl.learners.replay import TERMINAL, TRUNCATED, Replay
from dcrl.types import Transitions

OBSERVATION, ACTION, TARGET = 3, 2, 2


def episodes(steps: list[int], fell: list[bool], horizon: int = 12, seed: int = 0) -> Transitions:
    """Episodes of the given lengths; every number is different, and what was not simulated is NaN."""
    random, count = np.random.default_rng(seed), len(steps)
    transitions = Transitions(
        observation=random.normal(size=(count, horizon + 1, OBSERVATION)).astype(np.float32),
        action=random.normal(size=(count, horizon, ACTION)).astype(np.float32),
        reward=random.normal(size=(count, horizon)).astype(np.float32),
        state_descriptor=np.zeros((count, horizon + 1, TARGET), np.float32),
        steps=np.array(steps),
        terminated=np.array(fell),
    )
    for b, length in enumerate(steps):
        transitions.observation[b, length + 1 :] = np.nan
        transitions.action[b, length:] = np.nan
        transitions.reward[b, length:] = np.nan
    return transitions


def insert(replay: Replay, transitions: Transitions, valid: list[bool] | None = None, seed: int = 1) -> list[dict]:
    """Insert, and return what should be stored: one record a transition, in order."""
    random, count = np.random.default_rng(seed), len(transitions.steps)
    kept = np.ones(count, bool) if valid is None else np.array(valid)
    similarity = random.uniform(0.1, 1, count).astype(np.float32)
    target = random.uniform(-1, 1, (count, TARGET)).astype(np.float32)
    replay.insert(transitions, kept, similarity, target)
    return [
        {
            "observation": transitions.observation[b, t],
            "action": transitions.action[b, t],
            "reward": transitions.reward[b, t] * similarity[b],
            "next_observation": None if t == transitions.steps[b] - 1 else transitions.observation[b, t + 1],
            "target": target[b],
            "terminal": float(t == transitions.steps[b] - 1 and transitions.terminated[b]),
            "truncated": float(t == transitions.steps[b] - 1 and not transitions.terminated[b]),
        }
        for b in range(count)
        if kept[b]
        for t in range(transitions.steps[b])
    ]


def assert_holds(replay: Replay, records: list[dict]) -> None:
    """The last transitions of `records` stand in the ring, each in its place."""
    assert replay.inserted == len(records)
    assert replay.size == min(len(records), replay.capacity)
    numbers = np.arange(len(records))[-replay.capacity :]
    samples = replay.gather(numbers % replay.capacity)
    for row, number in enumerate(numbers):
        for name, expected in records[number].items():
            if expected is not None:  # the last step's next observation is never used
                np.testing.assert_array_equal(getattr(samples, name)[row], expected, err_msg=f"{name} of {number}")


def test_what_was_lived_is_stored_in_order():
    replay = Replay(100, OBSERVATION, ACTION, TARGET)
    records = insert(replay, episodes([4, 1, 12, 3], [True, False, False, True]))
    assert len(records) == 20
    assert_holds(replay, records)
    records += insert(replay, episodes([2, 5], [False, True], seed=2), seed=3)
    assert_holds(replay, records)


def test_a_fall_is_terminal_and_the_time_limit_truncates():
    replay = Replay(100, OBSERVATION, ACTION, TARGET)
    insert(replay, episodes([3, 2, 12], [True, False, False]))
    np.testing.assert_array_equal(np.flatnonzero(replay.flags == TERMINAL), [2])
    np.testing.assert_array_equal(np.flatnonzero(replay.flags == TRUNCATED), [4, 16])


def test_only_valid_episodes_that_lived_are_stored():
    replay = Replay(100, OBSERVATION, ACTION, TARGET)
    records = insert(replay, episodes([4, 5, 0, 3], [True, False, False, True]), valid=[True, False, True, True])
    assert len(records) == 7
    assert_holds(replay, records)
    assert np.isfinite(replay.observation).all()
    assert np.isfinite(replay.reward).all()
    insert(replay, episodes([4, 5], [True, False]), valid=[False, False])
    assert replay.inserted == 7


@pytest.mark.parametrize("capacity", [7, 16, 23, 24])
def test_the_ring_wraps_in_the_middle_of_an_episode(capacity):
    replay, records, random = Replay(capacity, OBSERVATION, ACTION, TARGET), [], np.random.default_rng(capacity)
    for round_number in range(12):
        steps = random.integers(1, 7, 4).tolist()
        transitions = episodes(steps, (random.random(4) < 0.5).tolist(), seed=round_number)
        records += insert(replay, transitions, seed=round_number)
        assert_holds(replay, records)
    assert replay.inserted > 3 * capacity


@pytest.mark.parametrize("capacity", [1, 5, 11])
def test_of_an_episode_longer_than_the_ring_the_end_survives(capacity):
    replay = Replay(capacity, OBSERVATION, ACTION, TARGET)
    records = insert(replay, episodes([3, 12], [True, True]))
    assert_holds(replay, records)
    assert replay.flags[(15 - 1) % capacity] == TERMINAL
    records += insert(replay, episodes([12, 2], [False, True], seed=5), seed=6)
    assert_holds(replay, records)


def test_only_endings_look_at_a_next_observation_that_is_not_theirs():
    replay = Replay(17, OBSERVATION, ACTION, TARGET)
    for seed in range(5):
        insert(replay, episodes([4, 6], [True, False], seed=seed))
    newest = (replay.inserted - 1) % 17
    assert replay.flags[newest] in (TERMINAL, TRUNCATED)


def test_samples_keep_the_leading_axes_of_the_index():
    replay = Replay(50, OBSERVATION, ACTION, TARGET)
    insert(replay, episodes([12, 12], [True, False]))
    index = np.random.default_rng(0).integers(0, 24, (4, 3, 5))
    samples, flat = replay.gather(index), replay.gather(index.reshape(-1))
    for nested, plain in zip(samples, flat, strict=True):
        assert nested.shape[:3] == index.shape
        assert nested.dtype == np.float32
        np.testing.assert_array_equal(nested.reshape(plain.shape), plain)


def test_an_unconditioned_learners_buffer_has_no_targets():
    replay = Replay(30, OBSERVATION, ACTION, 0)
    transitions = episodes([4, 3], [True, False])
    replay.insert(transitions, np.ones(2, bool), np.ones(2, np.float32), np.zeros((2, 0), np.float32))
    samples = replay.gather(np.arange(7))
    assert samples.target.shape == (7, 0)
    np.testing.assert_array_equal(
        samples.reward, np.concatenate([transitions.reward[0, :4], transitions.reward[1, :3]])
    )


def test_inserting_copies_rows_and_not_the_buffer():
    replay = Replay(200_000, 30, 8, 2)
    places = [array.ctypes.data for array in replay.arrays]
    whole = sum(array.nbytes for array in replay.arrays)
    random = np.random.default_rng(0)
    transitions = Transitions(
        observation=random.normal(size=(4, 101, 30)).astype(np.float32),
        action=random.normal(size=(4, 100, 8)).astype(np.float32),
        reward=random.normal(size=(4, 100)).astype(np.float32),
        state_descriptor=np.zeros((4, 101, 2), np.float32),
        steps=np.full(4, 100),
        terminated=np.zeros(4, bool),
    )
    tracemalloc.start()
    try:
        replay.insert(transitions, np.ones(4, bool), np.ones(4, np.float32), np.zeros((4, 2), np.float32))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < whole / 100
    assert [array.ctypes.data for array in replay.arrays] == places
    assert not any(np.shares_memory(replay.observation, part) for part in (transitions.observation, transitions.action))
    assert replay.size == 400


def test_a_negative_capacity_is_refused():
    with pytest.raises(ValueError, match="must be at least 0, got -3"):
        Replay(-3, OBSERVATION, ACTION, TARGET)
