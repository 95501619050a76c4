"""QD-PG (Pierrot et al., 2022): half of the policy gradients maximise the task's rewards, half the novelty of states.

Two unconditioned learners on one replay buffer. The diversity learner's reward for a state is the mean
squared distance of its step descriptor to the k nearest ones in an archive of novel states.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.compose import Composition
from dcrl.algorithms.state_novelty import StateNovelty, StateNoveltyConfig
from dcrl.hyperparameters import at_least
from dcrl.learners.td3 import TD3Config
from dcrl.variation.greedy_actor import GreedyActor
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradient, PolicyGradientConfig


@dataclass(frozen=True, kw_only=True)
class QDPGConfig:
    """QD-PG; the defaults are the paper's."""

    ga_offspring: int = 86
    """Genetic offspring per generation."""
    quality_offspring: int = 84
    """Policy-gradient offspring per generation for the task's rewards, in addition to that learner's actor."""
    diversity_offspring: int = 84
    """Policy-gradient offspring per generation for novelty, in addition to that learner's actor."""
    diversity_critic_steps: int = 300
    """Critic updates per generation of the diversity learner."""
    archive: ArchiveConfig = ArchiveConfig()
    novelty: StateNoveltyConfig = StateNoveltyConfig()
    ga: IsoLineConfig = IsoLineConfig()
    pg: PolicyGradientConfig = PolicyGradientConfig()
    td3: TD3Config = TD3Config()

    def __post_init__(self) -> None:
        at_least(self, 1, "ga_offspring", "quality_offspring", "diversity_offspring", "diversity_critic_steps")
        dataclasses.replace(self.td3, critic_steps=self.diversity_critic_steps)  # must be valid too


def qd_pg(setting: Setting, config: QDPGConfig) -> Composition:
    quality = setting.learner(config.td3)
    seeking = dataclasses.replace(config.td3, critic_steps=config.diversity_critic_steps)
    diversity = dataclasses.replace(quality, reward="novelty", config=seeking)
    layers, descriptor = setting.layers, setting.descriptor
    learners = (quality, diversity)
    counts = (config.quality_offspring, config.diversity_offspring)
    climbers = [
        operator
        for number, (name, learner, count) in enumerate(zip(("quality", "diversity"), learners, counts, strict=True))
        for operator in (
            PolicyGradient(
                name=f"{name}_pg",
                count=count,
                learner=learner,
                layers=layers,
                descriptor=descriptor,
                config=config.pg,
                learner_index=number,
            ),
            GreedyActor(name=f"{name}_actor", descriptor=descriptor, learner_index=number),
        )
    ]
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=(IsoLine(count=config.ga_offspring, descriptor=descriptor, config=config.ga), *climbers),
        learners=learners,
        novelty=StateNovelty(setting=setting, config=config.novelty),
    )
