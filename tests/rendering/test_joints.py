"""Joint positions and torques over an episode."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from dcrl.networks.policies import policy_layers
from dcrl.rendering.joints import joint_series
from dcrl.rendering.motion import record
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni
from dcrl.tasks.task import Task


def genotype(task: Task) -> np.ndarray:
    size = policy_layers(task.observation_size, task.action_size, (8,)).parameters
    return np.random.default_rng(3).normal(0, 0.3, size).astype(np.float32)


def test_torques_of_motors_are_gear_times_control() -> None:
    task = dataclasses.replace(registry.BUILT_IN["walker2d_uni"], horizon=20)
    motion = record(task, genotype(task), hidden=(8,))
    angles, torques = joint_series(task, motion)
    assert (angles.title, angles.unit, torques.title, torques.unit) == ("joint angles", "rad", "torques", "N m")
    assert angles.names == torques.names == task.actions
    np.testing.assert_array_equal(angles.values, motion.qpos[:, 3:].astype(np.float32))
    np.testing.assert_allclose(torques.values[:-1], 100 * motion.action, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(torques.values[-1], torques.values[-2])


def test_a_servo_exerts_the_torque_that_its_joint_asks_for() -> None:
    def robot() -> mujoco.MjSpec:
        spec = point_omni.robot()
        servo = spec.actuators[1]
        servo.set_to_position(kp=7.0, kv=2.0)
        return spec

    task = dataclasses.replace(point_omni, robot=robot, horizon=10)
    motion = record(task, genotype(task), hidden=(8,))
    positions, forces = joint_series(task, motion)
    assert (positions.unit, forces.title, forces.unit) == ("m", "forces", "N")
    control = motion.action[:, 1] * task.control_range[1][1] + task.control_range[0][1]
    expected = 7 * (control - motion.qpos[:-1, 1]) - 2 * motion.qvel[:-1, 1]
    np.testing.assert_allclose(forces.values[:-1, 1], expected, rtol=1e-5, atol=1e-6)


def test_a_robot_without_driven_joints_has_no_series() -> None:
    def robot() -> mujoco.MjSpec:
        spec = point_omni.robot()
        for name in ("x", "y"):
            spec.body("point").add_site(name=f"pushed {name}")
        for actuator, name in zip(spec.actuators, ("x", "y"), strict=True):
            actuator.trntype, actuator.target = mujoco.mjtTrn.mjTRN_SITE, f"pushed {name}"
        return spec

    task = dataclasses.replace(point_omni, robot=robot, horizon=5)
    assert joint_series(task, record(task, genotype(task), hidden=(8,))) == ()
