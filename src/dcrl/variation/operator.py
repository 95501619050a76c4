"""The contract of a variation operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import jax

from dcrl.archive.archive import Archive
from dcrl.learners.td3 import TD3State
from dcrl.replay import Replay
from dcrl.types import Floats


@dataclass(frozen=True, kw_only=True)
class Offspring:
    """Policies to evaluate, and the descriptors they are meant to achieve.

    `target` (B, D) is d' in the descriptor's units; None means whatever each one achieves.
    """

    genotype: Floats  # (B, P)
    target: Floats | None


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What offspring can be made from; a learner's parts are None in an algorithm without one."""

    archive: Archive
    learned: TD3State | None = None
    replay: Replay | None = None


class Operator(Protocol):
    """`count` offspring a generation, reported under `name`.

    `learns` says whether it needs what is trained in this generation; one that does not can be
    evaluated beside the training.
    """

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def learns(self) -> bool: ...

    def vary(self, sources: Sources, key: jax.Array) -> Offspring: ...
