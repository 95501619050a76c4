"""The replay buffer: a ring of the last transitions, in place, in host memory.

A row is (s, a, S r, d', flags); the next observation of a row is the row after it, so observations
are stored once. The last transition of an episode needs none: a fall bootstraps 0 and a time limit
contributes no critic error. What training needs of d is the similarity S(d, d') alone, which scales
the reward once, on insertion, so a row holds d' and not d.

An algorithm that rewards novel states also needs the step descriptor of each row. Feet contacts, 0 or 1, are
stored in spare bits of the flags and cost nothing; other values get a column when the first one is inserted.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    truncated: Array  # (...), 1 where it was truncated by the time limit


TERMINAL, TRUNCATED, FIRST_STATE_BIT = 1, 2, 2  # two values and a position in the byte of flags
MOST_BITS = 8 - FIRST_STATE_BIT


class Replay:
    """Owns the ring. `inserted` counts all transitions since the start; `state_size` is the size of the step
    descriptors to store, 0 for none.
    """

    def __init__(
        self, capacity: int, observation_size: int, action_size: int, target_size: int, state_size: int = 0
    ) -> None:
        if capacity < 0:
            raise ValueError(f"the capacity of a replay buffer must be at least 0, got {capacity}")
        self.capacity = capacity
        self.state_size = state_size
        self.inserted = 0
        self.observation = np.zeros((capacity, observation_size), np.float32)
        self.action = np.zeros((capacity, action_size), np.float32)
        self.reward = np.zeros(capacity, np.float32)
        self.target = np.zeros((capacity, target_size), np.float32)
        self.flags: Ints = np.zeros(capacity, np.uint8)
        self.state: Floats | None = None  # (capacity, D) once a step descriptor has other values than 0 and 1

    @property
    def size(self) -> int:
        return min(self.inserted, self.capacity)

    @property
    def named_arrays(self) -> dict[str, Floats | Ints]:
        names = ("observation", "action", "reward", "target", "flags", *(() if self.state is None else ("state",)))
        return {name: getattr(self, name) for name in names}

    @property
    def arrays(self) -> tuple[Floats | Ints, ...]:
        return tuple(self.named_arrays.values())

    def insert(self, transitions: Transitions, valid: Bools, similarity: Floats, target: Floats) -> None:
        """Append the simulated steps of the valid episodes: rewards times `similarity` (B,), d' = `target` (B, D)."""
        for b in np.flatnonzero(valid & (transitions.steps > 0)):
            steps = int(transitions.steps[b])
            flags = np.zeros(steps, np.uint8)
            flags[-1] = TERMINAL if transitions.terminated[b] else TRUNCATED
            states = transitions.state_descriptor[b, :steps]
            if self.state_size and self.state is None and not self._in_bits(states):
                self.state = self._states_of_bits(self.flags)
            if self.state_size and self.state is None:
                flags |= _bits(states)
            rows = [
                transitions.observation[b, :steps],
                transitions.action[b, :steps],
                transitions.reward[b, :steps] * similarity[b],
                np.broadcast_to(target[b], (steps, self.target.shape[1])),
                flags,
            ]
            self._append(*rows, *(() if self.state is None else (states,)))

    def restore(self, first: int, rows: Mapping[str, Floats | Ints]) -> None:
        """Restore rows of `named_arrays`, the first of which was insertion number `first`."""
        if "state" in rows and self.state is None:
            self.state = self._states_of_bits(self.flags)
        for name, array in self.named_arrays.items():
            array[np.arange(first, first + len(rows[name])) % self.capacity] = rows[name]

    def _append(self, *rows: Floats | Ints) -> None:
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
        flags = self.flags.take(index)
        return Samples(
            observation=self.observation.take(index, axis=0),
            action=self.action.take(index, axis=0),
            reward=self.reward.take(index),
            next_observation=self.observation.take((index + 1) % self.capacity, axis=0),
            target=self.target.take(index, axis=0),
            terminal=(flags & TERMINAL > 0).astype(np.float32),
            truncated=(flags & TRUNCATED > 0).astype(np.float32),
        )

    def states(self, index: Ints) -> Floats:
        """(..., D) the step descriptors of the states these rows start from."""
        if self.state is not None:
            return self.state.take(index, axis=0)
        return self._states_of_bits(self.flags.take(index))

    def _in_bits(self, states: Floats) -> bool:
        return states.shape[1] <= MOST_BITS and bool(((states == 0) | (states == 1)).all())

    def _states_of_bits(self, flags: Ints) -> Floats:
        return (flags[..., None] >> (FIRST_STATE_BIT + np.arange(self.state_size)) & 1).astype(np.float32)


NO_REPLAY = Replay(0, 0, 0, 0)  # for algorithms without learners


def _bits(states: Floats) -> Ints:
    """(T,) uint8: step descriptors (T, D) of 0 and 1, each in its bit."""
    weights = 1 << (FIRST_STATE_BIT + np.arange(states.shape[1]))
    return (states.astype(np.uint8) @ weights.astype(np.uint8)).astype(np.uint8)
