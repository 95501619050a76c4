"""The hexapod stands, walks with a tripod gait, moves its joints as documented, and is paid for speed and torque."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from dcrl.tasks.hexapod import JOINTS, LEGS, RANGE, STANDING, hexapod_uni
from dcrl.tasks.task import Integration
from dcrl.types import Physics

TRIPOD = ("left_front", "left_rear", "right_middle")  # the legs that swing together


def walk(task, swing: float, lift: float, hertz: float = 1.0) -> list[dict[str, np.ndarray]]:
    """Fields of the state at the start and after each control step of an open-loop tripod gait."""
    model, data, states = task.model, mujoco.MjData(task.model), []
    for step in range(task.horizon + 1):
        states.append({field: getattr(data, field).copy() for field in task.fields})
        for leg in LEGS:
            phase = 2 * np.pi * (hertz * step * task.integration.period + (leg not in TRIPOD) / 2)
            data.actuator(f"{leg}_coxa").ctrl = swing * np.sin(phase)
            data.actuator(f"{leg}_femur").ctrl = lift * max(0.0, np.cos(phase))
        mujoco.mj_step(model, data, task.integration.substeps)
    return states


def test_it_stands_on_six_feet():
    states = walk(hexapod_uni, 0, 0)
    assert states[0]["qpos"][2] == STANDING
    for state in states[25:]:
        assert state["qpos"][2] == pytest.approx(STANDING, abs=0.005)
        assert (state["sensordata"] > 0).all()
    assert not hexapod_uni.terminated(Physics(np, 0.02, np.asarray(0.0), states[-1]))


def test_it_walks_with_a_tripod_gait_at_any_timestep():
    fine = Integration(timestep=0.001, substeps=20)
    ends = [
        walk(task, 0.5, 0.5)[-1]["qpos"] for task in (hexapod_uni, dataclasses.replace(hexapod_uni, integration=fine))
    ]
    for end in ends:
        assert end[0] > 1.2
        assert abs(end[1]) < 0.2
    assert ends[0][0] == pytest.approx(ends[1][0], rel=0.05)


@pytest.mark.parametrize("leg", LEGS)
def test_positive_angles_swing_forward_and_lift(leg):
    model, data = hexapod_uni.model, mujoco.MjData(hexapod_uni.model)
    foot = model.geom(f"{leg}_tibia").id
    mujoco.mj_forward(model, data)
    before = data.geom_xpos[foot].copy()
    for segment, axis in (("coxa", 0), ("femur", 2), ("tibia", 2)):
        mujoco.mj_resetData(model, data)
        data.joint(f"{leg}_{segment}").qpos = 0.3
        mujoco.mj_forward(model, data)
        assert data.geom_xpos[foot][axis] > before[axis] + 0.005


def test_a_control_is_a_target_angle():
    assert hexapod_uni.actions == JOINTS
    centre, half = hexapod_uni.control_range
    assert (centre == 0).all()
    assert (half == RANGE).all()


@pytest.mark.parametrize(("velocity", "torque", "expected"), [(0.4, 1.0, 0.614), (0.0, 0.0, 0.25), (-0.5, 1.0, 0.0)])
def test_the_reward_by_hand(velocity, torque, expected):
    """v_x + 0.25 - 0.002 * 18 * torque^2, never below 0."""
    fields = {"qpos": np.zeros((2, 25)), "actuator_force": np.full((2, 18), torque)}
    moved = fields | {"qpos": fields["qpos"] + 0.02 * velocity * (np.arange(25) == 0)}
    before, after = (Physics(np, 0.02, np.ones(2), each) for each in (fields, moved))
    np.testing.assert_allclose(hexapod_uni.reward(before, np.zeros((2, 18)), after), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("height", "tilt", "fallen"), [(0.11, 0.0, False), (0.04, 0.0, True), (0.3, 0.0, True), (0.11, 1.2, True)]
)
def test_a_fall_is_a_low_a_high_or_a_tilted_torso(height, tilt, fallen):
    qpos = np.zeros(25)
    qpos[2], qpos[3], qpos[5] = height, np.cos(tilt / 2), np.sin(tilt / 2)
    assert bool(hexapod_uni.terminated(Physics(np, 0.02, np.asarray(1.0), {"qpos": qpos}))) == fallen


def test_the_clock_runs_at_two_hertz():
    data = mujoco.MjData(hexapod_uni.model)
    fields = {field: getattr(data, field) for field in hexapod_uni.fields}
    seconds = np.array([0.0, 0.125, 0.25, 0.5])
    states = {name: np.broadcast_to(value, (4, *value.shape)) for name, value in fields.items()}
    seen = hexapod_uni.observe(Physics(np, 0.02, 1 - seconds / 5, states))
    at = hexapod_uni.observations.index("clock, sine")
    np.testing.assert_allclose(seen[:, at], [0, 1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(seen[:, at + 1], [1, 0, -1, 1], atol=1e-9)
