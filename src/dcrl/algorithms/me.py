"""MAP-Elites: 256 genetic offspring a generation, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from dcrl.algorithms.algorithm import ArchiveConfig, Setting, positive
from dcrl.algorithms.compose import Composition
from dcrl.variation.iso_line import IsoLine, IsoLineConfig


@dataclass(frozen=True, kw_only=True)
class MEConfig:
    """MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 256
    """Genetic offspring a generation."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()

    def __post_init__(self) -> None:
        positive(ga_offspring=self.ga_offspring)


def me(setting: Setting, config: MEConfig) -> Composition:
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(IsoLine(count=config.ga_offspring, descriptor=setting.descriptor, config=config.ga),),
    )
