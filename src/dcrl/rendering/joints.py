"""The joints that a robot's actuators drive: their positions and the torques on them, over an episode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcrl.rendering.motion import Motion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Task
from dcrl.types import Floats, Ints

HINGES = ("joint angles", "rad"), ("torques", "N m")
SLIDES = ("joint positions", "m"), ("forces", "N")
MIXED = ("joint positions", "rad or m"), ("torques and forces", "N m or N")


@dataclass(frozen=True, kw_only=True)
class Series:
    """Quantities of one kind over an episode of S steps."""

    title: str
    unit: str
    names: tuple[str, ...]
    values: Floats  # (S + 1, N) float32


def joint_series(task: Task, motion: Motion) -> tuple[Series, ...]:
    """The positions of the driven joints, and the torques (forces on sliding joints) of their actuators.

    A torque is that of the control chosen in a state, at the start of its control step; the last one is repeated.
    Actuators that drive no single hinge or sliding joint, such as those of tendons, are left out.
    """
    actuators, joints = _driven(task.model)
    if not len(actuators):
        return ()
    names = tuple(task.actions[i] for i in actuators)
    angle = motion.qpos[:, task.model.jnt_qposadr[joints]]
    torque = _torques(task, motion)[:, actuators] * task.model.actuator_gear[actuators, 0]
    hinges = task.model.jnt_type[joints] == int(mujoco.mjtJoint.mjJNT_HINGE)
    position, effort = HINGES if hinges.all() else SLIDES if not hinges.any() else MIXED
    return (
        Series(title=position[0], unit=position[1], names=names, values=angle.astype(np.float32)),
        Series(title=effort[0], unit=effort[1], names=names, values=torque.astype(np.float32)),
    )


def _driven(model: mujoco.MjModel) -> tuple[Ints, Ints]:
    """The actuators that drive one hinge or sliding joint each, and these joints."""
    actuators = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT))
    joints = model.actuator_trnid[actuators, 0]
    kinds = [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)]
    scalar = np.isin(model.jnt_type[joints], kinds)
    return actuators[scalar], joints[scalar]


def _torques(task: Task, motion: Motion) -> Floats:
    """(S + 1, A), the actuators' forces before their gears."""
    data = mujoco.MjData(task.model)
    forces = np.zeros((motion.steps + 1, task.action_size))
    centre, half = task.control_range
    for step, action in enumerate(motion.action):
        data.qpos[:], data.qvel[:], data.ctrl[:] = motion.qpos[step], motion.qvel[step], centre + half * action
        mujoco.mj_fwdPosition(task.model, data)
        mujoco.mj_fwdVelocity(task.model, data)
        mujoco.mj_fwdActuation(task.model, data)
        forces[step] = data.actuator_force
    forces[motion.steps] = forces[motion.steps - 1] if motion.steps else 0.0
    return forces
