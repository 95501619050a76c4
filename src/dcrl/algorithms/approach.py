"""A reward for moving towards the target, for tasks whose descriptor is where an episode ends. Not in the paper.

R(s, a, s' | d') = r - c m + w (|x - d'| - |x' - d'|)

x and x' are the normalised positions before and after the step; m is the mean of all stored r, a share c of which is
subtracted so that staying alive is not worth more than moving. The paper's reward S(d, d') r is known only for the d'
that an episode was played with, and is close to 0 unless the episode ends near it. This one is known for every step and
every d', so a learner can be told what a transition would have been worth on the way to any target: a share of each
minibatch gets targets drawn uniformly from the descriptor space.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from dcrl.algorithms.algorithm import Setting
from dcrl.algorithms.stored_transitions import states
from dcrl.hyperparameters import positive, within
from dcrl.learners.conditioning import normalise
from dcrl.learners.replay import Replay, Samples
from dcrl.learners.training import Relabel
from dcrl.types import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class ApproachConfig:
    """The reward for moving towards the target; off by default, as in the paper."""

    approach_weight: float | None = None
    """Weight w of the approach to the target in the learner's reward r - c m + w (|x - d'| - |x' - d'|), in
    descriptors normalised to [-1, 1]; None for the paper's reward S(d, d') r. Only for tasks whose descriptor is the
    final position; no effect on others."""
    centring: float = 0.75
    """Share c of the mean stored reward that is subtracted from the task's reward; only with approach_weight."""
    random_targets: float = 0.75
    """Share of the sampled transitions whose target is replaced by a random one; only with approach_weight."""

    def __post_init__(self) -> None:
        if self.approach_weight is not None:
            positive(self, "approach_weight")
        within(self, 0, 1, "random_targets", "centring")


@dataclass(frozen=True, kw_only=True)
class Approach:
    """The reward in one setting."""

    setting: Setting
    weight: float
    centring: float
    random_targets: float

    def relabel(self, replay: Replay, key: jax.Array) -> Relabel:
        """Samples of the replay buffer with this reward, and with random targets in place of some of theirs."""
        random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        usual = np.float32(self.centring * replay.reward[: replay.size].mean(dtype=np.float64))

        def relabel(samples: Samples, index: Ints) -> Samples:
            drawn = random.random((*index.shape, 1 + self.setting.descriptor.size), dtype=np.float32)
            target = np.where(drawn[..., :1] < self.random_targets, 2 * drawn[..., 1:] - 1, samples.target)
            closer = self._distance(replay, index, target) - self._distance(replay, index + 1, target)
            ends = (samples.terminal + samples.truncated) > 0  # the row after it belongs to another episode
            return samples._replace(
                reward=samples.reward - usual + self.weight * np.where(ends, 0, closer), target=target
            )

        return relabel

    def _distance(self, replay: Replay, index: Ints, target: Floats) -> Floats:
        position = normalise(self.setting.descriptor, states(self.setting, replay, index % replay.capacity))
        return np.asarray(np.linalg.norm(position - target, axis=-1), np.float32)


def approach(setting: Setting, config: ApproachConfig) -> Approach | None:
    """The reward, if it is asked for and the descriptor is the final position."""
    if config.approach_weight is None or setting.descriptor.over != "last":
        return None
    return Approach(
        setting=setting,
        weight=config.approach_weight,
        centring=config.centring,
        random_targets=config.random_targets,
    )
