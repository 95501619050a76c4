"""Episodes kept beside an archive: the one that put each elite into it, and those of the latest generation.

Rows after an episode's end are 0. ASCII-MAP-Elites varies elites with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dcrl.types import Array, Bools, Floats, Ints, Transitions


class Episodes(NamedTuple):
    """One episode per row: observations s_t, actions a_t, rewards-to-go G_t and the number of simulated steps."""

    observation: Floats  # (N, T, O) float32
    action: Floats  # (N, T, A) float32
    reward_to_go: Floats  # (N, T) float32
    steps: Ints  # (N,) int32, 0 where there is no episode


class Remembered(NamedTuple):
    """The elites' episodes, by cell, and the latest generation's."""

    elites: Episodes
    latest: Episodes


def empty_memory(cells: int, offspring: int, horizon: int, observation_size: int, action_size: int) -> Remembered:
    """No episodes yet, with room for all; memory is used as it fills."""

    def empty(count: int) -> Episodes:
        return Episodes(
            observation=np.zeros((count, horizon, observation_size), np.float32),
            action=np.zeros((count, horizon, action_size), np.float32),
            reward_to_go=np.zeros((count, horizon), np.float32),
            steps=np.zeros(count, np.int32),
        )

    return Remembered(elites=empty(cells), latest=empty(offspring))


NO_EPISODES = empty_memory(0, 0, 0, 0, 0)  # for algorithms that remember none


def episodes_of(transitions: Transitions, valid: Bools, discount: float) -> Episodes:
    """Evaluations as episodes; an invalid one has no steps."""
    steps = np.where(valid, transitions.steps, 0).astype(np.int32)
    simulated = np.arange(transitions.reward.shape[1]) < steps[:, None]
    reward = np.where(simulated, transitions.reward, 0)
    return Episodes(
        observation=np.where(simulated[..., None], transitions.observation[:, :-1], 0),
        action=np.where(simulated[..., None], transitions.action, 0),
        reward_to_go=rewards_to_go(reward, discount),
        steps=steps,
    )


def rewards_to_go(reward: Floats, discount: float) -> Floats:
    """(N, T) G_t = r_t + discount G_(t+1)."""
    found, after = np.zeros(reward.shape, np.float32), np.zeros(len(reward))
    for t in range(reward.shape[1] - 1, -1, -1):
        after = reward[:, t] + discount * after
        found[:, t] = after
    return found


def joined(parts: Sequence[Episodes], count: int) -> Episodes:
    """The first `count` episodes of a generation, whose parts follow one another."""
    return Episodes(*(np.concatenate(columns)[:count] for columns in zip(*parts, strict=True)))


def remember(before: Remembered, latest: Episodes, added: Ints, cells: Ints) -> Remembered:
    """After a generation: rows `added` of the latest episodes are those of new elites in `cells`."""

    def replaced(array: Array, values: Array) -> Array:
        changed = array.copy()
        changed[cells] = values[added]
        return changed

    elites = Episodes(*(replaced(array, values) for array, values in zip(before.elites, latest, strict=True)))
    return Remembered(elites=elites, latest=latest)
