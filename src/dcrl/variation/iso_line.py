"""Genetic variation: x' = x_1 + sigma_1 N(0, I) + sigma_2 N(0, 1) (x_2 - x_1) (Vassiliades & Mouret, 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import numpy as np

from dcrl import keys
from dcrl.archive.selection import select
from dcrl.hyperparameters import not_negative
from dcrl.types import Descriptor
from dcrl.variation.operator import Offspring, Sources, no_target


@dataclass(frozen=True, kw_only=True)
class IsoLineConfig:
    """Hyperparameters of the genetic operator; the defaults are the paper's."""

    iso_sigma: float = 0.005
    """sigma_1: standard deviation of the noise on every parameter."""
    line_sigma: float = 0.05
    """sigma_2: standard deviation of the step along the line between two parents."""

    def __post_init__(self) -> None:
        not_negative(self, "iso_sigma", "line_sigma")


@dataclass(frozen=True, kw_only=True)
class IsoLine:
    """Offspring between and around two independently drawn elites, without a target."""

    name: str = "ga"
    count: int
    descriptor: Descriptor
    config: IsoLineConfig = IsoLineConfig()
    targeted: ClassVar[bool] = False
    needs_training: ClassVar[bool] = False

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        archive = sources.archive
        first = archive.genotype[select(archive, keys.stream(key, "first parents"), self.count)]
        second = archive.genotype[select(archive, keys.stream(key, "second parents"), self.count)]
        return Offspring(
            genotype=np.asarray(_iso_line(first, second, key, self.config)),
            target=no_target(self.count, self.descriptor),
        )


@partial(jax.jit, static_argnames=("config",))
def _iso_line(first: jax.Array, second: jax.Array, key: jax.Array, config: IsoLineConfig) -> jax.Array:
    iso = jax.random.normal(keys.stream(key, "iso"), first.shape)
    line = jax.random.normal(keys.stream(key, "line"), (len(first), 1))
    return first + config.iso_sigma * iso + config.line_sigma * line * (second - first)
