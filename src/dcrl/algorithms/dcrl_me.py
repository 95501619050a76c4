"""DCRL-MAP-Elites (Algorithm 1 of the paper): genetic variation, policy gradients under a
descriptor-conditioned critic, and injection of the descriptor-conditioned actor.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcrl.algorithms.compose import ArchiveConfig, Composition, Setting, positive
from dcrl.learners.td3 import TD3, TD3Config
from dcrl.variation.actor_injection import ActorInjection, ActorInjectionConfig
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradient, PolicyGradientConfig


@dataclass(frozen=True, kw_only=True)
class DCRLConfig:
    """DCRL-MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 128
    """Genetic offspring a generation."""
    pg_offspring: int = 64
    """Policy-gradient offspring a generation."""
    ai_offspring: int = 64
    """Injected actors a generation."""
    length_scale: float = 0.1
    """L of the similarity exp(-|d - d'| / L), in descriptors normalised to [-1, 1]."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()
    pg: PolicyGradientConfig = PolicyGradientConfig()
    ai: ActorInjectionConfig = ActorInjectionConfig()
    td3: TD3Config = TD3Config()

    def __post_init__(self) -> None:
        positive(
            ga_offspring=self.ga_offspring,
            pg_offspring=self.pg_offspring,
            ai_offspring=self.ai_offspring,
            length_scale=self.length_scale,
        )


def dcrl_me(setting: Setting, config: DCRLConfig) -> Composition:
    learner = TD3(
        observation_size=setting.layers.sizes[0],
        action_size=setting.layers.sizes[-1],
        descriptor_size=setting.descriptor.size,
        actor_hidden=setting.layers.sizes[1:-1],
        config=config.td3,
    )
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(
            IsoLine(count=config.ga_offspring, descriptor=setting.descriptor, config=config.ga),
            PolicyGradient(
                count=config.pg_offspring,
                learner=learner,
                layers=setting.layers,
                descriptor=setting.descriptor,
                config=config.pg,
            ),
            ActorInjection(count=config.ai_offspring, learner=learner, descriptor=setting.descriptor, config=config.ai),
        ),
        learner=learner,
        length_scale=config.length_scale,
    )
