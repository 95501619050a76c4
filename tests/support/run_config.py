"""The configuration of a small run of DCRL-MAP-Elites."""

from __future__ import annotations

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.learners.td3 import TD3Config
from dcrl.runs.config import RunConfig

ARCHIVE = ArchiveConfig(cells=40, cvt_samples=500)
CONFIG = RunConfig(
    task="point_omni",
    algorithm="dcrl_me",
    evaluations=40,
    seed=3,
    simulator=None,
    hidden=(16, 12),
    hyperparameters=DCRLConfig(
        ga_offspring=20,
        pg_offspring=10,
        ai_offspring=10,
        archive=ARCHIVE,
        td3=TD3Config(critic_hidden=(8, 8), replay_size=5000),
    ),
)
