"""An algorithm of your own: MAP-Elites with a new operator, crossover between neighbours.

dcrl check-algorithm examples/own_algorithm.py:algorithm
dcrl train point_omni --algorithm examples/own_algorithm.py:algorithm
"""

from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np

import dcrl
from dcrl import keys
from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.compose import Composition
from dcrl.archive.selection import select
from dcrl.types import Descriptor
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.operator import Offspring, Sources, no_target


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Offspring between an elite and the elite whose descriptor is nearest to its own, plus noise."""

    name: str = "neighbours"
    count: int
    descriptor: Descriptor
    sigma: float
    needs_training: ClassVar[bool] = False  # it uses no network, so it may be simulated while networks train

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        archive = sources.archive
        parents = select(archive, keys.stream(key, "parents"), self.count)
        elites = np.flatnonzero(archive.occupied)
        distance = np.linalg.norm(archive.descriptor[parents, None] - archive.descriptor[elites], axis=-1)
        distance[parents[:, None] == elites] = np.inf  # an elite is not its own neighbour
        others = elites[distance.argmin(axis=1)]
        share = np.asarray(jax.random.uniform(keys.stream(key, "share"), (self.count, 1), maxval=2.0))
        noise = np.asarray(jax.random.normal(keys.stream(key, "noise"), archive.genotype[parents].shape))
        child = archive.genotype[parents] + share * (archive.genotype[others] - archive.genotype[parents])
        return Offspring(genotype=child + self.sigma * noise, target=no_target(self.count, self.descriptor))


@dataclass(frozen=True, kw_only=True)
class NeighbourConfig:
    """MAP-Elites with crossover between neighbours. Every field is a flag of `dcrl train`."""

    ga_offspring: int = 128
    """Genetic offspring per generation."""
    neighbour_offspring: int = 128
    """Offspring between neighbours per generation."""
    neighbour_sigma: float = 0.005
    """Standard deviation of the noise on offspring between neighbours."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()


def build(setting: Setting, config: NeighbourConfig) -> Composition:
    genetic = IsoLine(count=config.ga_offspring, descriptor=setting.descriptor, config=config.ga)
    between = Neighbours(count=config.neighbour_offspring, descriptor=setting.descriptor, sigma=config.neighbour_sigma)
    return Composition(setting=setting, archive_config=config.archive, operators=(genetic, between))


algorithm = dcrl.AlgorithmEntry(
    name="neighbour_me",
    summary="MAP-Elites with crossover between neighbours",
    default=NeighbourConfig(),
    build=build,
)
