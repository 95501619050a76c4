"""The greedy actor: a learner's own policy, offered to the archive unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np

from dcrl.networks.perceptrons import join
from dcrl.types import Descriptor
from dcrl.variation.operator import Offspring, Sources, no_target


@dataclass(frozen=True, kw_only=True)
class GreedyActor:
    """One offspring: the actor of an unconditioned learner, whose shape is that of the policies."""

    name: str = "actor"
    count: int = 1
    descriptor: Descriptor
    learner_index: int = 0
    targeted: ClassVar[bool] = False
    needs_training: ClassVar[bool] = True

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        actor = np.asarray(join(sources.learned[self.learner_index].actor.online))
        return Offspring(genotype=actor[None], target=no_target(1, self.descriptor))
