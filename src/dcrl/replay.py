"""The replay buffer: a ring of the last transitions, in place, in host memory.

A row is (s, a, S r, d', flags); the next observation of a row is the row after it, so observations
are stored once. The last transition of an episode needs none: a fall bootstraps 0 and a time limit
contributes no critic error. What training needs of d is the similarity S(d, d') alone, which scales
the reward once, on insertion, so a row holds d' and not d.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dcrl.types import Array, Bools, Floats, Ints, Transitions


class Samples(NamedTuple):
    """Transitions gathered from the buffer, with any leading axes; NumPy, or JAX once on a device."""

    observation: Array  # (..., O)
    action: Array  # (..., A)
    reward: Array  # (...), scaled by the similarity
    next_observation: Array  # (..., O)
    target: Array  # (..., D), d' in [-1, 1]; D = 0 when the learner is not conditioned
    terminal: Array  # (...), 1 where the episode ended in a fall
    truncated: Array  # (...), 1 where it ended by the time limit


class Replay:
    """Owns the ring. `inserted` counts every transition ever inserted."""

    def __init__(self, capacity: int, observation_size: int, action_size: int, target_size: int) -> None:
        if capacity < 1:
            raise ValueError(f"the replay buffer needs room for at least 1 transition, got {capacity}")
        self.capacity = capacity
        self.inserted = 0
        self.observation = np.zeros((capacity, observation_size), np.float32)
        self.action = np.zeros((capacity, action_size), np.float32)
        self.reward = np.zeros(capacity, np.float32)
        self.target = np.zeros((capacity, target_size), np.float32)
        self.terminal: Bools = np.zeros(capacity, bool)
        self.truncated: Bools = np.zeros(capacity, bool)

    @property
    def size(self) -> int:
        return min(self.inserted, self.capacity)

    @property
    def arrays(self) -> tuple[Floats | Bools, ...]:
        return self.observation, self.action, self.reward, self.target, self.terminal, self.truncated

    def insert(self, transitions: Transitions, valid: Bools, similarity: Floats, target: Floats) -> None:
        """Append the steps the valid episodes lived: rewards times `similarity` (B,), d' = `target` (B, D)."""
        for b in np.flatnonzero(valid & (transitions.steps > 0)):
            steps = int(transitions.steps[b])
            last = np.arange(steps) == steps - 1
            fell = bool(transitions.terminated[b])
            self._append(
                transitions.observation[b, :steps],
                transitions.action[b, :steps],
                transitions.reward[b, :steps] * similarity[b],
                np.broadcast_to(target[b], (steps, self.target.shape[1])),
                last & fell,
                last & (not fell),
            )

    def _append(self, *rows: Floats | Bools) -> None:
        skip = max(0, len(rows[0]) - self.capacity)  # only the end of an episode longer than the ring survives
        start = (self.inserted + skip) % self.capacity
        count = len(rows[0]) - skip
        head = min(count, self.capacity - start)
        for array, values in zip(self.arrays, rows, strict=True):
            array[start : start + head] = values[skip : skip + head]
            array[: count - head] = values[skip + head :]
        self.inserted += len(rows[0])

    def gather(self, index: Ints) -> Samples:
        """The transitions in these rows."""
        return Samples(
            observation=self.observation.take(index, axis=0),
            action=self.action.take(index, axis=0),
            reward=self.reward.take(index),
            next_observation=self.observation.take((index + 1) % self.capacity, axis=0),
            target=self.target.take(index, axis=0),
            terminal=self.terminal.take(index).astype(np.float32),
            truncated=self.truncated.take(index).astype(np.float32),
        )
