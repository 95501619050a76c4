"""Actor injection: the conditioned actor, specialised to sampled descriptors, offered to the archive (Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import jax
import numpy as np

from dcrl import keys
from dcrl.archive.archive import Archive
from dcrl.archive.selection import select
from dcrl.hyperparameters import ADDED, one_of, within
from dcrl.learners.conditioning import normalise
from dcrl.learners.td3 import TD3
from dcrl.networks.perceptrons import join
from dcrl.networks.policies import specialise
from dcrl.types import Descriptor, Floats
from dcrl.variation.operator import Offspring, Sources

Injection = Literal["uniform", "archive"]
LEAST_OUTPUT = 0.2  # the smallest factor of gentle actors' outputs


@dataclass(frozen=True, kw_only=True)
class ActorInjectionConfig:
    """Hyperparameters of actor injection; the default is the paper's."""

    injection: Injection = "uniform"
    """Where descriptors are drawn from: the whole space (the paper), or the archive's elites (the authors' code)."""
    injected: Literal["online", "target"] = field(default="online", metadata=ADDED)
    """Which of the actor's networks is injected: the one that is trained (the paper), or the target network, which is
    its average over recent updates."""
    gentle: float = field(default=0.0, metadata=ADDED)
    """Share of the injected actors with smaller actions, which cost less energy: their output layer is multiplied by a
    factor between 0.2 and 1, drawn log-uniformly. 0 for the actor as it is (the paper)."""

    def __post_init__(self) -> None:
        within(self, 0, 1, "gentle")
        one_of(self, "injection", "uniform", "archive")
        one_of(self, "injected", "online", "target")


@dataclass(frozen=True, kw_only=True)
class ActorInjection:
    """Specialised copies of the actor; the target is the descriptor that each was specialised to."""

    name: str = "ai"
    count: int
    learner: TD3
    descriptor: Descriptor
    config: ActorInjectionConfig = ActorInjectionConfig()
    targeted: ClassVar[bool] = True
    needs_training: ClassVar[bool] = True

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        target = sample_descriptors(self.config.injection, sources.archive, self.descriptor, self.count, key)
        actor = np.asarray(join(getattr(sources.learned[0].actor, self.config.injected)))
        genotype = specialise(self.learner.actor_layers, actor, normalise(self.descriptor, target))
        return Offspring(genotype=self._gentle(genotype, key), target=target)

    def _gentle(self, genotype: Floats, key: jax.Array) -> Floats:
        """The policies, the first of them with smaller outputs before their last activation."""
        count = round(self.config.gentle * self.count)
        factor = LEAST_OUTPUT ** jax.random.uniform(keys.stream(key, "outputs"), (count, 1))
        *_, inputs, outputs = self.learner.actor_layers.sizes
        genotype[:count, -(inputs + 1) * outputs :] *= np.asarray(factor)
        return genotype


def sample_descriptors(
    source: Injection, archive: Archive, descriptor: Descriptor, count: int, key: jax.Array
) -> Floats:
    """(count, D) descriptors in the descriptor's units."""
    if source == "archive":
        return archive.descriptor[select(archive, keys.stream(key, "descriptors"), count)]
    unit = jax.random.uniform(keys.stream(key, "descriptors"), (count, descriptor.size))
    low, high = np.asarray(descriptor.low), np.asarray(descriptor.high)
    return np.asarray(low + np.asarray(unit) * (high - low), np.float32)
