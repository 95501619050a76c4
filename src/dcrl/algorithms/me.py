"""MAP-Elites: 256 genetic offspring per generation, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.compose import Composition
from dcrl.hyperparameters import at_least
from dcrl.variation.iso_line import IsoLine, IsoLineConfig


@dataclass(frozen=True, kw_only=True)
class MEConfig:
    """MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 256
    """Genetic offspring per generation."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()

    def __post_init__(self) -> None:
        at_least(self, 1, "ga_offspring")


def me(setting: Setting, config: MEConfig) -> Composition:
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(IsoLine(count=config.ga_offspring, descriptor=setting.descriptor, config=config.ga),),
    )
