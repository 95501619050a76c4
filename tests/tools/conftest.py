"""Two small real runs, for the tools that work on runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.cli.main import command
from random_runs import give_actor

SHARED = ("--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16", "--evaluations", "96", "--quiet")


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    """Of seeds 0, which has an actor, and 1."""
    output = tmp_path_factory.mktemp("runs")
    line = ("train", "point_omni", "--algorithm", "me", "--ga-offspring", "32", "--output", str(output), *SHARED)
    for seed in ("0", "1"):
        assert command([*line, "--seed", seed]) == 0
    found = {name: output / "point_omni" / "me" / f"seed-{seed}" for seed, name in enumerate(("actor", "plain"))}
    give_actor(found["actor"])
    return found
