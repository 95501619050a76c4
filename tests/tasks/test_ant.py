"""The ant: what standing still scores, and that the trap's walls are where they should be and hold."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import dcrl
from dcrl.tasks.ant import FEET, ant_omni, ant_uni, anttrap_omni

PUSH = 10.0  # N on the torso, about its own weight
STEPS = 1000  # of 0.005 s


def test_standing_still_scores_exactly_its_reward_and_stays():
    still = np.zeros((8, 21_512), np.float32)
    evaluation = dcrl.rollout("ant_omni", still, seed=range(8))
    stood = evaluation.steps == 250
    assert stood.sum() >= 6
    assert (evaluation.fitness[stood] == np.float32(1007.5)).all()  # 250 * 4.03
    assert (np.hypot(*evaluation.descriptor.T) < 1.0).all()
    np.testing.assert_array_equal(evaluation.transitions.action[stood], 0)
    np.testing.assert_array_equal(evaluation.transitions.reward[stood], np.float32(4.03))


def test_the_hardest_push_still_scores_above_zero():
    physics = dcrl.Physics(np, 0.05, np.asarray(1.0), {"qpos": np.zeros(15)})
    assert ant_omni.reward(physics, np.ones(8), physics) == pytest.approx(0.03)  # 4.03 - 0.5 * 8


def test_position_is_observed_in_units_of_thirty_metres():
    fields = {"qpos": np.arange(15.0), "qvel": np.arange(14.0) + 100}
    seen = ant_omni.observe(dcrl.Physics(np, 0.05, np.asarray(0.25), fields))
    np.testing.assert_allclose(seen, [0, 1 / 30, *range(2, 15), *range(100, 114), 0.25])
    np.testing.assert_allclose(ant_uni.observe(dcrl.Physics(np, 0.05, np.asarray(0.25), fields)), seen[2:])


def extents(model: mujoco.MjModel, name: str) -> np.ndarray:
    """(3, 2): the least and greatest x, y, z of a capsule of the world."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    radius, half_length, _ = model.geom(name).size
    reach = radius + half_length * np.abs(data.geom(name).xmat.reshape(3, 3)[:, 2])
    return np.stack([data.geom(name).xpos - reach, data.geom(name).xpos + reach], axis=1)


@pytest.mark.parametrize(
    ("wall", "x", "y"),
    [
        ("trap back", (11.5, 12.5), (-2.5, 2.5)),
        ("trap left", (6.5, 12.5), (2.5, 3.5)),
        ("trap right", (6.5, 12.5), (-3.5, -2.5)),
    ],
)
def test_the_walls_of_the_trap_stand_where_the_paper_has_them(wall, x, y):
    np.testing.assert_allclose(extents(anttrap_omni.model, wall), [x, y, (0.0, 1.0)], atol=1e-9)


def pushed(task: dcrl.Task, axis: int, sign: int, start: float = 9.5) -> np.ndarray:
    """(STEPS, 2): the way of a torso that is pushed along an axis, by default from inside the trap."""
    data = mujoco.MjData(task.model)
    data.qpos[:2] = start, 0.0
    way = []
    for _ in range(STEPS):
        data.xfrc_applied[1, axis] = sign * PUSH
        mujoco.mj_step(task.model, data)
        way.append(data.qpos[:2].copy())
    return np.array(way)


@pytest.mark.parametrize(("axis", "sign", "inner", "outer"), [(0, 1, 11.5, 12.5), (1, 1, 2.5, 3.5), (1, -1, 2.5, 3.5)])
def test_the_walls_hold_an_ant_that_is_pushed_against_them(axis, sign, inner, outer):
    free, caught = (sign * pushed(task, axis, sign)[:, axis] for task in (ant_omni, anttrap_omni))
    assert free.max() > outer  # without walls the same push leads past them
    assert inner - 1.0 < caught.max() < inner  # it came up to the wall and no further
    assert abs(caught[-1] - caught[-200]) < 0.05  # and rests there


@pytest.mark.parametrize("speed", [5.0, 10.0, 20.0])  # m/s
def test_a_fast_ant_does_not_pass_the_back_wall_alive(speed):
    """The fastest is thrown over it, above the height at which its episode ends."""
    furthest = {}
    for task in (ant_omni, anttrap_omni):
        data = mujoco.MjData(task.model)
        data.qpos[0], data.qvel[0] = 9.5, speed
        way = []
        for _ in range(200):  # a second
            mujoco.mj_step(task.model, data)
            if task.terminated(dcrl.Physics(np, 0.05, np.asarray(1.0), {"qpos": data.qpos})):
                break
            way.append(data.qpos[0])
        furthest[task.name] = max(way)
    assert furthest["anttrap_omni"] < 11.5
    assert furthest["ant_omni"] > (12.0 if speed > 5 else 11.0)


def test_the_mouth_of_the_trap_is_open_towards_the_start():
    free, caught = (pushed(task, 0, 1, start=0.0) for task in (ant_omni, anttrap_omni))
    inside = int(np.argmax(free[:, 0] > 8.0))
    assert inside > 0
    np.testing.assert_array_equal(free[:inside], caught[:inside])


def test_the_trap_changes_nothing_for_an_ant_that_stays_away():
    still = np.zeros((2, 21_512), np.float32)
    free, trapped = (dcrl.rollout(task, still, seed=3) for task in ("ant_omni", "anttrap_omni"))
    np.testing.assert_array_equal(free.transitions.observation, trapped.transitions.observation)


def test_the_feet_are_named_by_where_they_stand():
    model = ant_uni.model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for foot, name in zip(FEET, ant_uni.descriptor.names, strict=True):
        x, y, _ = data.geom(foot).xpos
        assert name == f"contact rate, {'front' if x > 0 else 'back'} {'left' if y > 0 else 'right'}"


def test_one_foot_on_the_floor_is_one_contact():
    """Lay the ant so that one foot after another reaches the floor, and read its sensors."""
    model = ant_uni.model
    data = mujoco.MjData(model)
    for tilted, (x, y) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        data.qpos[:] = model.qpos0
        axis, angle = np.array([-y, x, 0]) / 2**0.5, 0.3  # lowers the (x, y) corner
        data.qpos[3:7] = [np.cos(angle / 2), *(np.sin(angle / 2) * axis)]
        data.qpos[2] = 10.0
        mujoco.mj_forward(model, data)
        assert not data.sensordata.any()
        tips = [_lowest(model, data, foot) for foot in FEET]
        assert int(np.argmin(tips)) == tilted
        data.qpos[2] -= min(tips)
        mujoco.mj_forward(model, data)
        physics = dcrl.Physics(np, 0.05, np.asarray(1.0), {"sensordata": data.sensordata})
        np.testing.assert_array_equal(ant_uni.step_descriptor(physics), np.eye(4)[tilted])


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, capsule: str) -> float:
    radius, half_length, _ = model.geom(capsule).size
    return data.geom(capsule).xpos[2] - half_length * abs(data.geom(capsule).xmat[8]) - radius
