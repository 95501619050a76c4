"""Nodes with other versions or files than the machine that gives them work."""

from __future__ import annotations

from pathlib import Path

from dcrl.cluster.agreement import mismatch, missing_file
from dcrl.version import versions


def test_other_versions_are_one_sentence() -> None:
    other = versions() | {"jax": "0.0.1"}
    assert mismatch(versions()) is None
    assert f"has jax {versions()['jax']} instead of 0.0.1; install the same versions on all nodes" in mismatch(other)


def test_a_file_that_only_the_other_machine_has_is_one_sentence(tmp_path: Path) -> None:
    words = ("train", "robot.py:task", "--algorithm", "me", "--hidden", "16", "dcrl.tasks.point:point_omni")
    refused = missing_file(words, tmp_path)
    assert refused is not None
    assert f"has no file {tmp_path}/robot.py; a task or an algorithm of your own must be at the same path" in refused
    (tmp_path / "robot.py").touch()
    assert missing_file(words, tmp_path) is None
