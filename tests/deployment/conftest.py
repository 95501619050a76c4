"""One run directory per task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.random_runs import save_run


@pytest.fixture(scope="session")
def run_of(tmp_path_factory) -> Callable[[str], Path]:
    """`run_of(task)`: its run directory, made once."""
    root = tmp_path_factory.mktemp("runs")

    def directory(name: str) -> Path:
        return root / name if (root / name).exists() else save_run(root / name, name)

    return directory


@pytest.fixture
def point(run_of) -> Path:
    return run_of("point_omni")
