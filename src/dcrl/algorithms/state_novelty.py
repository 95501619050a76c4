"""QD-PG's diversity reward: how far a state is from the states in an archive of novel ones.

The memory is `State.novelty`, an array (N, D) of step descriptors. After each generation it is offered the states of
some episodes; before the next, a learner is trained on the mean squared distance to the nearest of them as its reward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import Setting
from dcrl.algorithms.state import State
from dcrl.archive.novelty import diversity_reward, offer
from dcrl.hyperparameters import at_least, positive
from dcrl.types import Evaluation, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class StateNoveltyConfig:
    """The archive of novel states; the defaults are those of the authors' code."""

    novelty_capacity: int = 10_000
    """Maximum number of states in the novelty archive; the oldest are removed first."""
    novelty_threshold: float = 0.1
    """Minimum distance of a new state to all states in the novelty archive, in the descriptor's units."""
    novelty_neighbours: int = 5
    """Nearest neighbours whose mean squared distance is the reward; as many as there are, if fewer."""
    novelty_steps: int = 64_000
    """Steps per generation that are candidates for the novelty archive, in whole episodes drawn at random."""

    def __post_init__(self) -> None:
        at_least(self, 1, "novelty_capacity", "novelty_neighbours", "novelty_steps")
        positive(self, "novelty_threshold")


@dataclass(frozen=True, kw_only=True)
class StateNovelty:
    """The diversity reward in one setting."""

    setting: Setting
    config: StateNoveltyConfig

    @property
    def stored_size(self) -> int:
        """The size of the step descriptors that the replay buffer must store: 0 if observations contain them."""
        return 0 if self.setting.descriptor_from_observation else self.setting.descriptor.size

    def reward(self, state: State) -> Callable[[Ints], Floats]:
        """The reward of rows of the replay buffer: the novelty of the states that they start from."""
        replay, memory, compute = state.replay, state.novelty, self.setting.descriptor_from_observation

        def reward(index: Ints) -> Floats:
            states = compute(replay.observation.take(index, axis=0)) if compute else replay.states(index)
            flat = self._clip(states.reshape(-1, states.shape[-1]))
            return diversity_reward(memory, flat, self.config.novelty_neighbours).reshape(index.shape)

        return reward

    def update(self, memory: Floats, evaluations: Sequence[Evaluation], key: jax.Array) -> Floats:
        """The memory after it was offered the states of some episodes, drawn with replacement."""
        recorded = [evaluation.transitions for evaluation in evaluations if evaluation.transitions]
        episodes = [(transitions, b) for transitions in recorded for b in np.flatnonzero(transitions.steps)]
        if not episodes:
            return memory
        count = max(1, self.config.novelty_steps // recorded[0].reward.shape[1])
        drawn = np.asarray(jax.random.randint(keys.stream(key, "novelty"), (count,), 0, len(episodes)))
        states = [
            transitions.state_descriptor[b, : transitions.steps[b]]
            for transitions, b in map(episodes.__getitem__, drawn)
        ]
        return offer(
            memory, self._clip(np.concatenate(states)), self.config.novelty_threshold, self.config.novelty_capacity
        )

    def _clip(self, states: Floats) -> Floats:
        descriptor = self.setting.descriptor
        return np.clip(states, descriptor.low, descriptor.high).astype(np.float32)
