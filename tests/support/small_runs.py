"""Small runs of DCRL-MAP-Elites: the same configuration as flags and in Python."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.learners.td3 import TD3Config
from dcrl.variation.policy_gradient import PolicyGradientConfig
from support.commands import COMMAND

ARCHIVE = ("--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16")
SMALL = (
    *("--ga-offspring", "8", "--pg-offspring", "4", "--ai-offspring", "4"),
    *("--critic-steps", "20", "--critic-hidden", "16", "16", "--policy-steps", "5", "--replay-size", "20000"),
    *ARCHIVE,
)
SAME = DCRLConfig(
    ga_offspring=8,
    pg_offspring=4,
    ai_offspring=4,
    archive=ArchiveConfig(cells=64, cvt_samples=1000),
    pg=PolicyGradientConfig(policy_steps=5),
    td3=TD3Config(critic_steps=20, critic_hidden=(16, 16), replay_size=20_000),
)


def train(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    line = [COMMAND, "train", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=300, check=False)


def rows(path: Path) -> list[dict[str, str]]:
    with open(path / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))
