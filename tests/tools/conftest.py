"""Two small real runs, for the tools that work on runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.cli.main import command

SHARED = ("--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16", "--evaluations", "96", "--quiet")
LEARNING = ("--critic-steps", "20", "--critic-hidden", "16", "16", "--policy-steps", "5", "--replay-size", "3000")
RUNS = {
    "dcrl_me": ("--ga-offspring", "8", "--pg-offspring", "4", "--ai-offspring", "4", *LEARNING),
    "me": ("--ga-offspring", "32", "--seed", "1"),
}


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    output = tmp_path_factory.mktemp("runs")
    found = {}
    for name, flags in RUNS.items():
        assert command(["train", "point_omni", "--algorithm", name, "--output", str(output), *flags, *SHARED]) == 0
        found[name] = output / "point_omni" / name / f"seed-{1 if name == 'me' else 0}"
    return found
