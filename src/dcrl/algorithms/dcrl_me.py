"""DCRL-MAP-Elites (Algorithm 1 of the paper): genetic variation, policy gradients under a
descriptor-conditioned critic, and injection of the descriptor-conditioned actor.

DCG-MAP-Elites and the paper's two ablations are the same algorithm in other configurations.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal

from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.approach import ApproachConfig, approach
from dcrl.algorithms.compose import Composition
from dcrl.hyperparameters import ADDED, at_least, one_of, optional_count, positive
from dcrl.learners.td3 import TD3Config
from dcrl.variation.actor_injection import ActorInjection, ActorInjectionConfig
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.operator import Operator
from dcrl.variation.policy_gradient import PolicyGradient, PolicyGradientConfig
from dcrl.variation.targets import GradientTarget


@dataclass(frozen=True, kw_only=True)
class DCRLConfig:
    """DCRL-MAP-Elites; the defaults are the paper's."""

    ga_offspring: int = 128
    """Genetic offspring per generation."""
    pg_offspring: int = 64
    """Policy-gradient offspring per generation."""
    ai_offspring: int | None = 64
    """Injected actors per generation; None for no actor injection."""
    actor_evaluations: int | None = None
    """Episodes per generation of the actor conditioned on elites' descriptors, for data only; None for none."""
    conditioned_actor: bool = True
    """Whether the actor is conditioned on the descriptor that it should achieve."""
    length_scale: float = 0.1
    """L of the similarity exp(-|d - d'| / L), in descriptors normalised to [-1, 1]."""
    overlap: Literal["same", "lagged"] = field(default="same", metadata=ADDED)
    """What is simulated during training. same: genetic offspring; results are the same as without overlap. lagged:
    all offspring, which use the networks of the previous generation."""
    pg_target: GradientTarget = field(default="parent", metadata=ADDED)
    """What policy gradients are conditioned on: the parent's descriptor (the paper), the centroid of its weakest
    neighbour cell, or that of the nearest empty cell."""
    archive: ArchiveConfig = ArchiveConfig()
    ga: IsoLineConfig = IsoLineConfig()
    pg: PolicyGradientConfig = PolicyGradientConfig()
    ai: ActorInjectionConfig = ActorInjectionConfig()
    td3: TD3Config = TD3Config()
    approach: ApproachConfig = field(default=ApproachConfig(), metadata=ADDED)

    def __post_init__(self) -> None:
        at_least(self, 1, "ga_offspring", "pg_offspring")
        optional_count(self, "ai_offspring", "actor_evaluations")
        positive(self, "length_scale")
        one_of(self, "overlap", "same", "lagged")
        one_of(self, "pg_target", "parent", "neighbour", "empty")
        for name in ("ai_offspring", "actor_evaluations"):
            count = getattr(self, name)
            if count is not None and not self.conditioned_actor:
                raise ValueError(
                    f"an actor that is not conditioned on descriptors cannot be specialised to them, "
                    f"got {name} {count}; set {name} to None or conditioned_actor to True"
                )


DCG = DCRLConfig(pg_offspring=128, ai_offspring=None, actor_evaluations=64)
ABLATION_AI = DCRLConfig(pg_offspring=128, ai_offspring=None)
ABLATION_ACTOR = dataclasses.replace(ABLATION_AI, conditioned_actor=False)


def dcrl_me(setting: Setting, config: DCRLConfig) -> Composition:
    """DCRL-MAP-Elites, or the ablation that its configuration describes."""
    learner = dataclasses.replace(
        setting.learner(config.td3, conditioned=True), conditioned_actor=config.conditioned_actor
    )
    layers, descriptor = setting.layers, setting.descriptor
    operators: list[Operator] = [
        IsoLine(count=config.ga_offspring, descriptor=descriptor, config=config.ga),
        PolicyGradient(
            count=config.pg_offspring,
            learner=learner,
            layers=layers,
            descriptor=descriptor,
            config=config.pg,
            target=config.pg_target,
        ),
    ]
    for_data: list[Operator] = []
    if config.ai_offspring:
        operators.append(
            ActorInjection(count=config.ai_offspring, learner=learner, descriptor=descriptor, config=config.ai)
        )
    if config.actor_evaluations:
        elites = ActorInjectionConfig(injection="archive")
        for_data.append(
            ActorInjection(
                name="actor", count=config.actor_evaluations, learner=learner, descriptor=descriptor, config=elites
            )
        )
    return Composition(
        setting=setting,
        archive_config=config.archive,
        operators=tuple(operators),
        data_operators=tuple(for_data),
        learners=(learner,),
        length_scale=config.length_scale,
        lagged=config.overlap == "lagged",
        approach=approach(setting, config.approach),
    )
