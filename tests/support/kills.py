"""Runs that are stopped and resumed: their command lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.commands import COMMAND

SHARED = ("--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16")
LEARNING = ("--critic-steps", "20", "--critic-hidden", "16", "16", "--policy-steps", "5", "--replay-size", "3000")
RUNS = {
    "dcrl_me": ("--ga-offspring", "8", "--pg-offspring", "4", "--ai-offspring", "4", *LEARNING),
    "qd_pg": (
        *("--ga-offspring", "6", "--quality-offspring", "4", "--diversity-offspring", "4"),
        *("--diversity-critic-steps", "8", *LEARNING),
    ),
    "me_es": ("--es-samples", "20", "--evaluations-of-centre", "4"),
    "me": ("--ga-offspring", "16"),
}
EVALUATIONS = {"dcrl_me": 480, "qd_pg": 480, "me_es": 900}


def arguments(name: str, output: Path, evaluations: int) -> list[str]:
    budget = ("--evaluations", str(evaluations), "--output", str(output), "--checkpoint-minutes", "0")
    return ["train", "point_omni", "--algorithm", name, *budget, *RUNS[name], *SHARED, "--refresh-seconds", "1e9"]


def dcrl(*line: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *line], capture_output=True, text=True, timeout=300, check=False, **options)
