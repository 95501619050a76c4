"""The contract of a variation operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import jax
import numpy as np

from dcrl.archive.archive import Archive
from dcrl.archive.episodes import NO_EPISODES, Remembered
from dcrl.learners.replay import NO_REPLAY, Replay
from dcrl.learners.td3 import TD3State
from dcrl.types import Descriptor, Floats


@dataclass(frozen=True, kw_only=True)
class Offspring:
    """Policies to evaluate, and their target descriptors.

    `target` is d' in the descriptor's units; a row of NaN stands for the descriptor that the offspring achieves.
    """

    genotype: Floats  # (B, P)
    target: Floats  # (B, D)


def no_target(count: int, descriptor: Descriptor) -> Floats:
    """The target of offspring without one: the descriptor that they achieve."""
    return np.full((count, descriptor.size), np.nan, np.float32)


def concatenate(offspring: Sequence[Offspring]) -> Offspring:
    """The offspring of several operators, in order."""
    return Offspring(
        genotype=np.concatenate([some.genotype for some in offspring]),
        target=np.concatenate([some.target for some in offspring]),
    )


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What offspring are made from: the archive, one state per learner, the replay buffer and episodes."""

    archive: Archive
    learned: tuple[TD3State, ...] = ()
    replay: Replay = NO_REPLAY
    remembered: Remembered = NO_EPISODES  # episodes, for operators that vary with them


class Operator(Protocol):
    """`count` offspring per generation, reported under `name`.

    `targeted` says whether they are given a target descriptor, `needs_training` whether they depend on the networks
    that this generation trains.
    """

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def targeted(self) -> bool: ...
    @property
    def needs_training(self) -> bool: ...

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        """The offspring of one generation; `key` is the only source of randomness."""
        ...
