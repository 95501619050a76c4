"""QD-PG's diversity reward: how far a state is from the states in an archive of novel ones.

The memory is `State.novelty`, an array (N, D) of step descriptors. After each generation it is offered the states of
some episodes; before the next, a learner is trained on the mean squared distance to the nearest of them as its reward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import Setting
from dcrl.algorithms.state import State
from dcrl.algorithms.stored_transitions import states
from dcrl.archive.novelty import diversity_reward, offer
from dcrl.hyperparameters import at_least, positive
from dcrl.learners.replay import Samples
from dcrl.learners.training import Relabel
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

    def relabel(self, state: State) -> Relabel:
        """Samples of the replay buffer whose reward is the novelty of the states that they start from."""
        replay, memory = state.replay, state.novelty

        def relabel(samples: Samples, index: Ints) -> Samples:
            flat = states(self.setting, replay, index.ravel())
            reward = diversity_reward(memory, flat, self.config.novelty_neighbours)
            return samples._replace(reward=reward.reshape(index.shape))

        return relabel

    def update(self, memory: Floats, evaluations: Sequence[Evaluation], key: jax.Array) -> Floats:
        """The memory after it was offered the states of some episodes, drawn with replacement."""
        recorded = [evaluation.transitions for evaluation in evaluations if evaluation.transitions]
        episodes = [(transitions, b) for transitions in recorded for b in np.flatnonzero(transitions.steps)]
        if not episodes:
            return memory
        count = max(1, self.config.novelty_steps // recorded[0].reward.shape[1])
        drawn = np.asarray(jax.random.randint(keys.stream(key, "novelty"), (count,), 0, len(episodes)))
        seen = np.concatenate(
            [
                transitions.state_descriptor[b, : transitions.steps[b]]
                for transitions, b in map(episodes.__getitem__, drawn)
            ]
        )
        seen = np.clip(seen, self.setting.descriptor.low, self.setting.descriptor.high).astype(np.float32)
        return offer(memory, seen, self.config.novelty_threshold, self.config.novelty_capacity)
