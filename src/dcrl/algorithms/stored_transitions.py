"""What is stored of transitions: their targets, their rewards and, where observations lack them, step descriptors."""

from __future__ import annotations

import numpy as np

from dcrl.algorithms.algorithm import Setting
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.replay import Replay
from dcrl.types import Descriptor, Evaluation, Floats, Ints


def insert_unconditioned(replay: Replay, evaluation: Evaluation) -> None:
    """The transitions of an evaluation, for learners that are not conditioned on descriptors."""
    count = len(evaluation.fitness)
    _insert(replay, evaluation, np.ones(count, np.float32), np.zeros((count, 0), np.float32))


def insert_conditioned(
    replay: Replay, evaluation: Evaluation, descriptor: Descriptor, target: Floats, length_scale: float | None
) -> None:
    """The transitions of an evaluation with d', which is the achieved d where `target` (B, D) is NaN.

    Rewards are scaled by the similarity S(d, d'), unless `length_scale` is None.
    """
    achieved, target = normalise(descriptor, evaluation.descriptor), normalise(descriptor, target)
    condition = np.where(np.isnan(target), achieved, target)
    scale = np.ones(len(target), np.float32)
    if length_scale is not None:
        scale = similarity(achieved, condition, length_scale)
    _insert(replay, evaluation, scale, condition)


def stored_size(setting: Setting) -> int:
    """The size of the step descriptors that a replay buffer must store: 0 if observations contain them."""
    return 0 if setting.descriptor_from_observation else setting.descriptor.size


def states(setting: Setting, replay: Replay, index: Ints) -> Floats:
    """(..., D) the step descriptors of the states that these rows start from, within the descriptor's bounds."""
    compute = setting.descriptor_from_observation
    found = compute(replay.observation.take(index, axis=0)) if compute else replay.states(index)
    return np.clip(found, setting.descriptor.low, setting.descriptor.high).astype(np.float32)


def _insert(replay: Replay, evaluation: Evaluation, scale: Floats, target: Floats) -> None:
    if evaluation.transitions is not None:
        replay.insert(evaluation.transitions, evaluation.valid, scale, target)
