"""Damaged checkpoints are refused or load as they were."""

from __future__ import annotations

import pytest

import fuzz


@pytest.mark.parametrize("name", ["dcrl_me", "me_es"])
def test_damaged_checkpoints_load_as_they_were_or_are_refused(name, tmp_path):
    outcomes = fuzz.checkpoints(tmp_path / "checkpoints", name, 150, seed=1)
    assert outcomes["refused"] > 120
    assert outcomes["same"] > 0
