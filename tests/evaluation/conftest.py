"""One small run to evaluate, and the command that does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from support.generations import ME
from support.random_runs import give_actor


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCRL_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("XLA_FLAGS", raising=False)
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """One small run, evaluated by many tests, each on a copy; its actor is untrained, which no measurement minds."""
    output = tmp_path_factory.mktemp("trained")
    dcrl.train("point_omni", "me", evaluations=200, hidden=(16, 16), hyperparameters=ME, output=output)
    path = output / "point_omni" / "me" / "seed-0"
    give_actor(path)
    return path


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "moved" / "run"))


@pytest.fixture
def said(capsys) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = command(["evaluate", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call
