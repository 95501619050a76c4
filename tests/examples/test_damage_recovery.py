"""The example of a damaged robot: its damages on the hexapod, and the search on the point, whose answer is known."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import mujoco
import numpy as np
import pytest

from dcrl.tasks import registry
from dcrl.tasks.hexapod import LEGS
from support.kills import SHARED

EXAMPLE = Path(__file__).parents[2] / "examples" / "damage_recovery.py"


@pytest.fixture(scope="module")
def example():
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("damage_recovery", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_ten_damages_and_each_leg_can_be_lost(example):
    task = registry.get("hexapod_uni")
    assert len(example.damages_of(task)) == 10
    models = [example.damaged(task, damage).model for damage in example.damages_of(task)]
    assert len({model.actuator_gainprm.tobytes() for model in models}) == 10
    assert example.damages_of(registry.get("point_omni")) == ("dead x", "dead y")


@pytest.mark.parametrize("leg", LEGS)
def test_a_missing_leg_touches_nothing_and_has_no_motors(example, leg):
    intact, task = registry.get("hexapod_uni"), example.damaged(registry.get("hexapod_uni"), f"no {leg}")
    model, data = task.model, mujoco.MjData(task.model)
    data.ctrl[:] = 0.3
    mujoco.mj_step(model, data, 200)
    lost = np.array([name.startswith(leg) for name in task.actions])
    assert (data.actuator_force[lost] == 0).all()
    assert (np.abs(data.actuator_force[~lost]) > 0).all()
    touching = dict(zip(LEGS, data.sensordata, strict=True))
    assert touching[leg] == 0
    assert sum(touching.values()) == 5
    assert intact.model.body_mass.sum() - model.body_mass.sum() == pytest.approx(0.24 - 0.003)


def test_a_dead_motor_gives_no_torque(example):
    task = example.damaged(registry.get("hexapod_uni"), "dead left_rear_tibia, dead right_front_coxa")
    data = mujoco.MjData(task.model)
    data.ctrl[:] = 0.3
    mujoco.mj_step(task.model, data, 10)
    dead = [name for name, force in zip(task.actions, data.actuator_force, strict=True) if force == 0]
    assert dead == ["left_rear_tibia", "right_front_coxa"]


@pytest.mark.slow
def test_a_point_without_a_motor_still_finds_a_way(tmp_path):
    command = [str(Path(sys.executable).parent / "dcrl"), "train", "point_omni", "--algorithm", "me"]
    flags = ["--evaluations", "640", "--ga-offspring", "64", "--iso-sigma", "0.2", "--output", str(tmp_path), "--quiet"]
    assert subprocess.run([*command, *flags, *SHARED], check=False, timeout=300).returncode == 0
    line = [sys.executable, str(EXAMPLE), str(tmp_path / "point_omni" / "me" / "seed-0"), "--trials", "5"]
    files = ["--output", str(tmp_path / "recovery.png"), "--json", str(tmp_path / "recovery.json")]
    done = subprocess.run([*line, *files], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "trials: median" in done.stdout
    found = json.loads((tmp_path / "recovery.json").read_text())
    assert list(found["damages"]) == ["dead x", "dead y"]
    # pushing costs the point its fitness whether or not the motor works, so the best elite, which stands still, stays
    assert found["intact"] > 45
    for row in found["damages"].values():
        assert 45 < row["chosen"] <= row["best elite"] < 50
        assert row["trials"] in range(1, 6)
    assert plt.imread(tmp_path / "recovery.png").shape[1] > 1000
    wrong = subprocess.run([*line, "--damage", "no wing"], capture_output=True, text=True, check=False, timeout=300)
    assert "point_omni has no damage 'no wing'; choose from: dead x | y" in wrong.stderr
