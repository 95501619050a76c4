"""ASCII-MAP-Elites (Mitsides, Faldor & Cully, 2025): genetic offspring, and elites that follow better action sequences.

It needs no critic: elites learn from the episodes of the latest generation, which are kept beside the archive.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.compose import Composition
from dcrl.algorithms.episode_memory import EpisodeMemory
from dcrl.hyperparameters import at_least
from dcrl.variation.action_sequence import ActionSequence, ActionSequenceConfig
from dcrl.variation.iso_line import IsoLine, IsoLineConfig


@dataclass(frozen=True, kw_only=True)
class ASCIIConfig:
    """ASCII-MAP-Elites; the defaults are those of the authors' code."""

    ga_offspring: int = 128
    """Genetic offspring per generation."""
    ascii_offspring: int = 128
    """Action-sequence offspring per generation."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()
    ascii: ActionSequenceConfig = ActionSequenceConfig()

    def __post_init__(self) -> None:
        at_least(self, 1, "ga_offspring", "ascii_offspring")


def ascii_me(setting: Setting, config: ASCIIConfig) -> Composition:
    layers, descriptor = setting.layers, setting.descriptor
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(
            IsoLine(count=config.ga_offspring, descriptor=descriptor, config=config.ga),
            ActionSequence(count=config.ascii_offspring, layers=layers, descriptor=descriptor, config=config.ascii),
        ),
        episodes=EpisodeMemory(discount=config.ascii.ascii_discount),
    )
