"""Fixtures that tests of several packages share; what they return is made in `support`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
from xdist.scheduler import LoadFileScheduling

from dcrl import devices
from dcrl.tasks.task import Task
from dcrl.types import Evaluation
from support.episodes import Policies, episode_bytes, played, random_policies
from support.random_runs import give_actor, save_run

# folders whose tests start processes, train or draw
LONGEST = ("algorithms", "explorer", "cli", "runs", "documentation", "examples", "analysis", "variation", "learners")
CACHE = Path(__file__).parents[1] / ".cache" / "tests"
# `make test` sets this: half of a first run is compilation, most of it optimisation that small tests gain nothing from
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ["XLA_FLAGS"] = QUICK if os.environ.get("DCRL_QUICK_COMPILATION") else ""
devices.prepare(CACHE)  # as the command does, so that a run in a test's own process gives the same bytes

# files that need the same small runs of every algorithm, or the same server of the explorer, made once per process
SHARING = {
    "algorithms": (
        "algorithms/",
        "runs/test_resume.py",
        "variation/test_evolution_strategy.py",
        "archive/test_novelty.py",
    ),
    "explorer": ("explorer/",),
}


class Sharing(LoadFileScheduling):
    """The tests of a file go to one process, and so do those of files that share what is costly to make."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        shared = (name for name, files in SHARING.items() if file.removeprefix("tests/").startswith(files))
        return next(shared, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return Sharing(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, so that no process is left with one of them at the end."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.parent.name, len(rank)))


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory) -> Iterator[None]:
    """What commands remember, apart from what the user's own commands do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCRL_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_cache() -> Iterator[None]:
    """Centroids and compiled code are shared by all test processes, the commands they start, and later test runs."""
    compiled = CACHE / "jax"
    jax.config.update("jax_compilation_cache_dir", str(compiled))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCRL_CACHE", str(CACHE))
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(compiled))
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
        yield


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> None:
    """A copy of the cache for a test that kills processes, which may leave compiled code half-written."""
    shutil.copytree(CACHE, tmp_path / "cache", ignore_dangling_symlinks=True)
    monkeypatch.setenv("DCRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache" / "jax"))


@pytest.fixture(scope="session")
def policies() -> Callable[..., Policies]:
    """`policies(task, count, seed=1)`."""
    return random_policies


@pytest.fixture(scope="session")
def episodes() -> Callable[[str, str], tuple[Task, Evaluation]]:
    """`episodes(simulator, task)`."""
    return played


@pytest.fixture(scope="session")
def outcome() -> Callable[..., list[bytes]]:
    """`outcome(evaluation, rows=None)`."""
    return episode_bytes


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """One small run, which tests re-evaluate; its actor is untrained, which no measurement minds."""
    import dcrl
    from support.generations import ME

    output = tmp_path_factory.mktemp("trained")
    dcrl.train("point_omni", "me", evaluations=200, hidden=(16, 16), hyperparameters=ME, output=output)
    path = output / "point_omni" / "me" / "seed-0"
    give_actor(path)
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    """Two runs of random policies: of seed 0, with an actor, and of seed 1, without."""
    root = tmp_path_factory.mktemp("runs")
    return {
        "actor": save_run(root / "actor", "point_omni", cells=64, seed=0),
        "plain": save_run(root / "plain", "point_omni", cells=64, seed=1, actor=False),
    }
