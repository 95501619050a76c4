"""`dcrl check-task`: one line per check, a verdict, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcrl.cli.main import command

MALFORMED = """
import dataclasses, mujoco
from dcrl.tasks.point import point_omni
task = dataclasses.replace(point_omni, robot=lambda: mujoco.MjSpec.from_string("<mujoco><worldbdy/></mujoco>"))
"""


def test_check_task_lists_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["check-task", "point_omni"]) == 0
    text = capsys.readouterr().out
    assert text.count("✓") == 16
    assert text.endswith("point_omni: every check passed\n")


def test_check_task_lists_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.py"
    own.write_text(MALFORMED)
    assert command(["check-task", f"{own}:task"]) == 2
    text = capsys.readouterr().out
    assert "✗ model: robot raises ValueError: XML Error" in text
    assert "worldbdy" in text
    assert text.endswith("own.py:task: 1 of 2 checks failed\n")
    assert command(["check-task", f"{own}:task", "--json"]) == 2
    statuses = [(finding["check"], finding["status"]) for finding in json.loads(capsys.readouterr().out)]
    assert statuses == [("load", "ok"), ("model", "failed")]
