"""The hints after training name a command that works where the user is."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from dcrl.cli.training import _next_steps


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment in the current directory that is not activated, after `.venv/bin/dcrl`."""
    script = tmp_path / ".venv" / "bin" / "dcrl"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr("sys.argv", [".venv/bin/dcrl", "train", "walker2d_uni"])
    return script


def test_without_an_activated_environment_the_path_is_named(installed: Path) -> None:
    run = Path("runs/walker2d_uni/dcrl_me/seed-0")
    lines = _next_steps(run, evaluations=7_680).splitlines()
    assert f"watch the policies   .venv/bin/dcrl explore {run}" in lines
    assert f"the paper's budget   .venv/bin/dcrl resume {run} --evaluations 1000000" in lines


def test_a_hint_can_be_pasted_into_a_shell(installed: Path) -> None:
    run = Path("my runs/it's/seed-0")
    *_, explore, _, resume = _next_steps(run, evaluations=7_680).splitlines()
    assert shlex.split(explore)[-2:] == ["explore", str(run)]
    assert shlex.split(resume.partition("budget")[2])[1:] == ["resume", str(run), "--evaluations", "1000000"]
