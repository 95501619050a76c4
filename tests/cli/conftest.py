"""A copy of a small run, and `dcrl evaluate` of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dcrl.cli.main import command


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "moved" / "run"))


@pytest.fixture
def said(capsys) -> Callable[..., tuple[int, str, str]]:
    """`said(*arguments)`: exit code, stdout and stderr of `dcrl evaluate`."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = command(["evaluate", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call
