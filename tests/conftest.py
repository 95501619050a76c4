"""What the tests share: random policies, episodes of every task, and byte-for-byte comparison of evaluations."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import jax
import numpy as np
import pytest

from dcrl import keys, simulators
from dcrl.networks.policies import Layers, policy_layers
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks import registry
from dcrl.tasks.task import Task
from dcrl.types import Evaluation, Floats
from support.random_runs import save_run

Policies = tuple[Floats, jax.Array, Layers]


LONGEST = ("cli", "explorer", "runs", "analysis", "algorithms")  # folders whose tests start processes or train


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, so that no process is left with one of them at the end."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.parent.name, len(rank)))


CACHE = Path(__file__).parents[1] / ".cache" / "tests"


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
        patch.delenv("XLA_FLAGS", raising=False)
        yield


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> None:
    """A copy of the cache for a test that kills processes, which may leave compiled code half-written."""
    shutil.copytree(CACHE, tmp_path / "cache", ignore_dangling_symlinks=True)
    monkeypatch.setenv("DCRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache" / "jax"))


def random_policies(task: Task, count: int, seed: int = 1) -> Policies:
    """Genotypes from standing still to thrashing, a start key each, and their layers: what `Simulator.play` takes."""
    layers = policy_layers(task.observation_size, task.action_size)
    random = np.random.default_rng(seed)
    genotypes = np.zeros((count, layers.parameters), np.float32)
    for kernel, bias in layers.split(genotypes):
        bound = (3 / kernel.shape[1]) ** 0.5 * np.linspace(0, 2, count)[:, None, None]
        kernel[:] = random.uniform(-bound, bound, kernel.shape)
        bias[:] = random.normal(0, 0.01, bias.shape)
    return genotypes, keys.each(keys.stream(keys.root(seed), "start"), count), layers


@pytest.fixture(scope="session")
def policies() -> Callable[..., Policies]:
    """`policies(task, count, seed=1)`."""
    return random_policies


@pytest.fixture(scope="session")
def episodes() -> Callable[[str, str], tuple[Task, Evaluation]]:
    """`episodes(simulator, task)`: the same 64 policies from the same starts on any simulator, for 40 steps."""

    @cache
    def play(simulator: str, name: str) -> tuple[Task, Evaluation]:
        task = dataclasses.replace(registry.BUILT_IN[name], horizon=40)
        genotypes, starts, layers = random_policies(task, 64)
        with simulators.make(task, simulator) as opened:
            return task, evaluate(opened, task.descriptor, genotypes, starts, layers, record=True)

    return play


@pytest.fixture(scope="session")
def outcome() -> Callable[..., list[bytes]]:
    """`outcome(evaluation, rows)`: one `bytes` per episode, of all its transitions and results."""

    def make(evaluation: Evaluation, rows: object = None) -> list[bytes]:
        every = np.arange(len(evaluation.fitness)) if rows is None else np.asarray(rows)
        return [_bytes(evaluation, row) for row in every]

    return make


def _bytes(evaluation: Evaluation, row: int) -> bytes:
    parts = [evaluation.fitness[row], evaluation.descriptor[row], evaluation.steps[row], evaluation.valid[row]]
    transitions = evaluation.transitions
    if transitions is not None:
        steps = transitions.steps[row]
        parts += [transitions.observation[row, : steps + 1], transitions.state_descriptor[row, : steps + 1]]
        parts += [transitions.action[row, :steps], transitions.reward[row, :steps], transitions.terminated[row]]
    return b"".join(np.asarray(part).tobytes() for part in parts)


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    """Two runs of random policies: of seed 0, with an actor, and of seed 1, without."""
    root = tmp_path_factory.mktemp("runs")
    return {
        "actor": save_run(root / "actor", "point_omni", cells=64, seed=0),
        "plain": save_run(root / "plain", "point_omni", cells=64, seed=1, actor=False),
    }
