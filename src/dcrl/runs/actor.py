"""The descriptor-conditioned actor of a run: the distilled archive."""

from __future__ import annotations

from dcrl.algorithms.algorithm import Algorithm
from dcrl.algorithms.state import State
from dcrl.learners.td3 import TD3
from dcrl.networks.policies import Parameters
from dcrl.runs.config import RunConfig
from dcrl.variation.actor_injection import ActorInjectionConfig


def conditioned_learner(algorithm: Algorithm) -> TD3 | None:
    """The learner whose actor is conditioned on descriptors, if there is one."""
    conditioned = (learner for learner in algorithm.learners if learner.descriptor_size and learner.conditioned_actor)
    return next(conditioned, None)


def stored_actor(config: RunConfig, state: State) -> Parameters:
    """The actor's network that is injected, or the trained one if there is no actor injection."""
    injection = getattr(config.hyperparameters, "ai", ActorInjectionConfig())
    actor: Parameters = getattr(state.learned[0].actor, injection.injected)
    return actor
