"""The contract of a variation operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import jax
import numpy as np

from dcrl.archive.archive import Archive
from dcrl.learners.replay import Replay
from dcrl.learners.td3 import TD3State
from dcrl.types import Descriptor, Floats


@dataclass(frozen=True, kw_only=True)
class Offspring:
    """Policies to evaluate, and the descriptors they are meant to achieve.

    `target` is d' in the descriptor's units; a row of NaN means whatever the offspring achieves.
    """

    genotype: Floats  # (B, P)
    target: Floats  # (B, D)


def unaimed(count: int, descriptor: Descriptor) -> Floats:
    """Targets of offspring that aim at what they achieve."""
    return np.full((count, descriptor.size), np.nan, np.float32)


def together(offspring: Sequence[Offspring]) -> Offspring:
    """Several operators' offspring, in order."""
    return Offspring(
        genotype=np.concatenate([some.genotype for some in offspring]),
        target=np.concatenate([some.target for some in offspring]),
    )


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What offspring can be made from; an operator that learns names its learner by number."""

    archive: Archive
    learned: tuple[TD3State, ...] = ()
    replay: Replay | None = None


class Operator(Protocol):
    """`count` offspring a generation, reported under `name`. One that `waits` needs what this generation trains."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def waits(self) -> bool: ...

    def vary(self, sources: Sources, key: jax.Array) -> Offspring: ...
