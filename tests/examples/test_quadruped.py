"""The example of four-legged robots: Barkour, and a stand-in for a robot of MuJoCo Menagerie."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from dcrl.check import check_task
from dcrl.tasks import registry
from dcrl.types import Physics

EXAMPLE = Path(__file__).parents[2] / "examples" / "quadruped" / "quadruped.py"
LEGS = {"FL": (0.2, 0.15), "FR": (0.2, -0.15), "RL": (-0.2, 0.15), "RR": (-0.2, -0.15)}
PARTS = ("hip", "thigh", "calf")
HOME = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}


def standing(task) -> mujoco.MjData:
    """The robot after two seconds with all actions at 0."""
    data = mujoco.MjData(task.model)
    data.qpos[:] = task.model.key_qpos[0]
    data.ctrl[:] = task.control_range[0]
    mujoco.mj_step(task.model, data, round(2 / task.integration.timestep))
    return data


@pytest.fixture(scope="module")
def menagerie(tmp_path_factory) -> Path:
    """A directory laid out like Menagerie: a robot of capsules with the names and the torque motors of its Go2."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    base = spec.worldbody.add_body(name="base", pos=[0, 0, 0.3])
    base.add_freejoint()
    base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.2, 0.05, 0.05], mass=3)
    for leg, (x, y) in LEGS.items():
        hip = base.add_body(name=f"{leg}_hip", pos=[x, y, 0])
        thigh = hip.add_body(name=f"{leg}_thigh")
        calf = thigh.add_body(name=f"{leg}_calf", pos=[0, 0, -0.2])
        for body, axis, mass in ((hip, [1, 0, 0], 0.5), (thigh, [0, 1, 0], 1), (calf, [0, 1, 0], 0.2)):
            body.add_joint(name=f"{body.name}_joint", axis=axis, damping=[1, 0, 0], armature=0.01)
            end = [0, 0, 0, 0, 0, -0.03] if body is hip else [0, 0, 0, 0, 0, -0.2]
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=end, size=[0.015, 0, 0], mass=mass)
            geom.contype = geom.conaffinity = 0
        calf.add_geom(name=leg, type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0, 0, -0.2], size=[0.02, 0, 0], mass=0.05)
    for leg in ("FR", "FL", "RR", "RL"):  # unlike the joints
        for part in PARTS:
            limit = 40 if part == "calf" else 20
            motor = spec.add_actuator(name=f"{leg}_{part}", target=f"{leg}_{part}_joint")
            motor.trntype, motor.ctrlrange, motor.ctrllimited = mujoco.mjtTrn.mjTRN_JOINT, [-limit, limit], True
    angles = [HOME[part] + 0.05 * (leg == "RR" and part == "hip") for leg in LEGS for part in PARTS]
    spec.add_key(name="home", qpos=[0, 0, 0.3, 1, 0, 0, 0, *angles])
    spec.compile()
    root = tmp_path_factory.mktemp("menagerie")
    (root / "unitree_go2").mkdir()
    (root / "unitree_go2" / "go2.xml").write_text(spec.to_xml())
    return root


def test_barkour_stands_on_four_feet():
    task = registry.get(f"{EXAMPLE}:barkour_uni")
    data = standing(task)
    assert (task.observation_size, task.action_size, task.horizon) == (38, 12, 250)
    assert data.qpos[2] == pytest.approx(0.18, abs=0.03)
    assert (data.sensordata > 0).all()
    assert len(data.sensordata) == 4
    state = Physics(np, 0.02, np.asarray(0.5), {field: getattr(data, field) for field in task.fields})
    assert not task.terminated(state)
    effort = np.mean((data.actuator_force / 18) ** 2)
    assert task.reward(state, data.ctrl, state) == pytest.approx(0.5 - effort)
    assert registry.get(f"{EXAMPLE}:barkour_omni").reward(state, data.ctrl, state) == pytest.approx(1 - effort)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["barkour_omni", "barkour_uni"])
def test_barkour_passes_every_check(name):
    assert [finding for finding in check_task(f"{EXAMPLE}:{name}") if finding.status != "ok"] == []


def test_a_robot_of_menagerie_gets_position_actuators_about_its_keyframe(menagerie, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    task = registry.get(f"{EXAMPLE}:go2_omni")
    model, (centre, half) = task.model, task.control_range
    assert [model.actuator(i).name for i in range(12)] == list(task.actions)
    home = dict(zip(task.actions, centre, strict=True))
    assert home["RR_hip"] == pytest.approx(0.05)
    assert home["FL_hip"] == pytest.approx(0.0)
    assert (home["FR_thigh"], home["RL_calf"]) == pytest.approx((0.8, -1.6))
    np.testing.assert_allclose(half, 0.4)
    np.testing.assert_array_equal(model.actuator_forcerange[:, 1], [20, 20, 40] * 4)
    data = standing(task)
    assert data.qpos[2] == pytest.approx(0.28, abs=0.04)
    assert (data.sensordata > 0).all()


@pytest.mark.slow
def test_a_robot_of_menagerie_passes_every_check(menagerie, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    findings = check_task(f"{EXAMPLE}:go2_omni")
    assert [finding for finding in findings if finding.status == "failed"] == []
    assert findings[-1].check == "determinism"


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("", "set MENAGERIE_ROOT to a copy of MuJoCo Menagerie, which holds unitree_go2/go2.xml"),
        ("nowhere", "MENAGERIE_ROOT is 'nowhere', but there is no unitree_go2/go2.xml"),
    ],
)
def test_without_menagerie_the_command_says_what_to_set(root, message, tmp_path, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", root)
    command = [str(Path(sys.executable).parent / "dcrl"), "train", f"{EXAMPLE}:go2_uni", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
