"""Rollouts against bare physics: both sides step the same states, and the command reports what it measured."""

from __future__ import annotations

import json
import os
from importlib.metadata import version

import numpy as np
import pytest
from mujoco.batch import Batch

from dcrl.bench.rollouts import bare_physics, measure_rollouts
from dcrl.cli.main import command
from dcrl.networks.policies import policy_layers
from dcrl.simulators.mujoco import MujocoSimulator, start_states
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.hopper import hopper_uni


def test_bare_physics_repeats_the_recorded_episodes() -> None:
    """The comparison is fair only if both sides step the same states."""
    layers = policy_layers(hopper_uni.observation_size, hopper_uni.action_size)
    genotypes = np.random.default_rng(0).normal(scale=0.1, size=(5, layers.parameters)).astype(np.float32)
    starts = start_keys(range(5), 5)
    with MujocoSimulator(hopper_uni, 1) as simulator:
        episodes = simulator.play(genotypes, starts, layers, record=True).transitions
    assert episodes is not None
    assert len(set(episodes.steps.tolist())) > 1
    batch = Batch(hopper_uni.model, 5, 2, persistent=True)
    assert bare_physics(hopper_uni, batch, episodes, *start_states(hopper_uni, starts)) > 0
    last = episodes.observation[np.arange(5), episodes.steps]
    np.testing.assert_array_equal(last[:, 0], batch.bind("qpos")[:, 1].astype(np.float32))  # the torso's height


def test_a_measurement_needs_something_to_measure() -> None:
    with pytest.raises(ValueError, match="at least one task, got none"):
        measure_rollouts((), 1, 1, 1)


def test_bench_reports_what_it_ran(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--tasks", "point_omni", "--policies", "8", "--repeats", "2", "--threads", "1", "--json")
    assert command(["bench", "rollout", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["mujoco"] == version("mujoco")
    assert found["cores"] == len(os.sched_getaffinity(0))
    (row,) = found["results"]
    assert (row["task"], row["policies"], row["threads"], row["steps"]) == ("point_omni", 8, 1, 8 * 50)
    assert row["ratios"] == [a / b for a, b in zip(row["rollout_seconds"], row["bare_seconds"], strict=True)]
    assert row["ratio"] == np.median(row["ratios"])
    assert row["steps_per_second"] * row["microseconds_per_step"] == pytest.approx(1e6)


def test_the_table_cuts_no_number(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert command(["bench", "rollout", "--tasks", "point_omni", "--policies", "64", "--repeats", "1"]) == 0
    table = capsys.readouterr().out.split("numpy", 1)[1]
    assert max(map(len, table.splitlines()[1:])) <= 40
    assert "ratio" in table
