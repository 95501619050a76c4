"""Presets: a budget and, for `fast`, hyperparameters. Single flags override what a preset sets."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeAlias, get_args

from dcrl.algorithms import catalogue
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.approach import ApproachConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.learners.td3 import TD3Config
from dcrl.runs.config import PAPER_EVALUATIONS, RunConfig
from dcrl.tasks import registry as tasks
from dcrl.variation.actor_injection import ActorInjectionConfig
from dcrl.variation.policy_gradient import PolicyGradientConfig

Preset: TypeAlias = Literal["quick", "fast", "paper"]
EVALUATIONS: dict[Preset, int] = {"quick": 7_680, "fast": 10_240, "paper": PAPER_EVALUATIONS}

FAST_ALGORITHM = catalogue.DEFAULT
# Chosen by time to quality on 2 cores; docs/algorithms/fast.md has the table of what was tried
FAST = DCRLConfig(
    pg_target="neighbour",
    pg=PolicyGradientConfig(policy_steps=50),
    td3=TD3Config(
        critic_steps=2000,
        updates_per_transition=1 / 32,
        critic_hidden=(128, 128),
        critic_norm="layer",
        batch_size=64,
        critic_learning_rate=6e-4,
        actor_learning_rate=6e-4,
    ),
)
# Where the descriptor is the final position: the actor learns to walk to any target with the paper's learner, and is
# injected with smaller actions as well, which save energy
FAST_POSITION = dataclasses.replace(
    FAST,
    pg_offspring=16,
    ai_offspring=112,
    approach=ApproachConfig(approach_weight=4000.0),
    ai=ActorInjectionConfig(injected="target", gentle=0.5),
    td3=TD3Config(output_penalty=0.05),
)
# The half-cheetah's actions cost much energy, and its episodes, which never end early, have many transitions
FAST_HALFCHEETAH = dataclasses.replace(
    FAST,
    ai=FAST_POSITION.ai,
    td3=dataclasses.replace(FAST.td3, updates_per_transition=1 / 64),
)


def run_config(
    task: str,
    algorithm: str,
    preset: Preset | None,
    evaluations: int | None,
    seed: int,
    hidden: tuple[int, ...],
    simulator: str | None,
    hyperparameters: Any,
) -> RunConfig:
    """The configuration of a run under a preset; what is given overrides it."""
    return RunConfig(
        task=task,
        algorithm=algorithm,
        evaluations=budget(preset, evaluations),
        seed=seed,
        simulator=simulator,
        hidden=hidden,
        hyperparameters=preset_hyperparameters(preset, algorithm, task) if hyperparameters is None else hyperparameters,
    )


def budget(preset: Preset | None, evaluations: int | None) -> int:
    """The number of evaluations that is asked for, or that of a preset; that of `quick` if neither is given."""
    if preset is not None and preset not in get_args(Preset):
        raise ValueError(f"unknown preset {preset!r}; choose one of {', '.join(get_args(Preset))}")
    return EVALUATIONS[preset or "quick"] if evaluations is None else evaluations


def preset_hyperparameters(preset: Preset | None, algorithm: str, task: str | None = None) -> Any:
    """An algorithm's hyperparameters under a preset, on one task or in general: the paper's, unless it is `fast`."""
    if preset != "fast":
        return algorithms.get(algorithm).default
    if algorithm != FAST_ALGORITHM:
        raise ValueError(
            f"the preset fast is a configuration of {FAST_ALGORITHM}, got the algorithm {algorithm}; "
            f"leave out the preset, or train {FAST_ALGORITHM}"
        )
    if task == "halfcheetah_uni":
        return FAST_HALFCHEETAH
    return FAST_POSITION if task is not None and tasks.get(task).descriptor.over == "last" else FAST
