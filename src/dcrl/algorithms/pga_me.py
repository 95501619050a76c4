"""PGA-MAP-Elites (Nilsson & Cully, 2021): genetic and policy-gradient offspring, and the greedy actor itself.

Neither critic nor actor is conditioned on descriptors: plain TD3 on the rewards of all offspring.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.compose import Composition
from dcrl.hyperparameters import at_least
from dcrl.learners.td3 import TD3Config
from dcrl.variation.greedy_actor import GreedyActor
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradient, PolicyGradientConfig


@dataclass(frozen=True, kw_only=True)
class PGAConfig:
    """PGA-MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 128
    """Genetic offspring per generation."""
    pg_offspring: int = 127
    """Policy-gradient offspring per generation, in addition to the greedy actor."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()
    pg: PolicyGradientConfig = PolicyGradientConfig()
    td3: TD3Config = TD3Config()

    def __post_init__(self) -> None:
        at_least(self, 1, "ga_offspring", "pg_offspring")


def pga_me(setting: Setting, config: PGAConfig) -> Composition:
    learner = setting.learner(config.td3)
    layers, descriptor = setting.layers, setting.descriptor
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(
            IsoLine(count=config.ga_offspring, descriptor=descriptor, config=config.ga),
            PolicyGradient(
                count=config.pg_offspring, learner=learner, layers=layers, descriptor=descriptor, config=config.pg
            ),
            GreedyActor(descriptor=descriptor),
        ),
        learners=(learner,),
    )
