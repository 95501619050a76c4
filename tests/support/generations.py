"""Small runs of every algorithm on the point, played once and looked at by many tests."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

from dcrl import simulators
from dcrl.algorithms import registry
from dcrl.algorithms.algorithm import Algorithm
from dcrl.algorithms.ascii_me import ASCIIConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.algorithms.me_es import MEESConfig
from dcrl.algorithms.pga_me import PGAConfig
from dcrl.algorithms.qd_pg import QDPGConfig
from dcrl.algorithms.state import State
from dcrl.check import trial as trials
from dcrl.check.trial import History, Trial, diverging, is_same, random_search, snapshot
from dcrl.tasks.point import point_omni
from dcrl.tasks.task import Task

__all__ = ["History", "diverging", "random_search", "snapshot"]

ARCHIVE, GA, PG, TD3, ES, NOVELTY, ASCII = trials.SMALL
DCRL = DCRLConfig(ga_offspring=8, pg_offspring=5, ai_offspring=3, archive=ARCHIVE, ga=GA, pg=PG, td3=TD3)
ME = MEConfig(ga_offspring=16, archive=ARCHIVE, ga=GA)
SMALL: dict[str, Any] = {
    "dcrl_me": DCRL,
    "dcg_me": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None, actor_evaluations=4),
    "pga_me": PGAConfig(ga_offspring=8, pg_offspring=7, archive=ARCHIVE, ga=GA, pg=PG, td3=TD3),
    "qd_pg": QDPGConfig(
        ga_offspring=6,
        quality_offspring=4,
        diversity_offspring=4,
        diversity_critic_steps=8,
        archive=ARCHIVE,
        novelty=NOVELTY,
        ga=GA,
        pg=PG,
        td3=TD3,
    ),
    "me": ME,
    "me_es": MEESConfig(
        evaluations_of_centre=3,
        generations_per_parent=2,
        archive=ARCHIVE,
        es=ES,
    ),
    "ablation_ai": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None),
    "ablation_actor": dataclasses.replace(DCRL, pg_offspring=8, ai_offspring=None, conditioned_actor=False),
    "ascii_me": ASCIIConfig(ga_offspring=8, ascii_offspring=8, archive=ARCHIVE, ga=GA, ascii=ASCII),
}


BUILDERS = {entry.config: entry.build for entry in registry.ALGORITHMS.values()}


@cache
def trial(config: Any) -> Trial:
    """An algorithm on the point; its first run is played once, looked at by many tests."""
    return Trial(BUILDERS[type(config)], config, simulators.make(point_omni))


def compose(config: Any, task: Task = point_omni) -> Algorithm:
    if task is point_omni:
        return trial(config).algorithm()
    return Trial(BUILDERS[type(config)], config, simulators.make(task), task).algorithm()


def original(config: Any) -> History:
    return trial(config).run


def history(config: Any, seed: int = 0, state: State | None = None) -> History:
    return trial(config).play(seed, state)


def assert_same(a: State, b: State) -> None:
    assert is_same(a, b)
