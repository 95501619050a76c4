"""The point (beyond the paper): a mass on two slides whose every answer is known in closed form.

1 kg, damped by 1 N s/m, pushed by up to 1 N along x and y, from rest near the origin for 5 s.
With h the timestep and u the force, MuJoCo's implicit step is v <- (v + h u) / (1 + h), x <- x + h v.
reward 1 - 0.25 |u|^2, so the best way to a place is the gentlest push, and standing still scores 50.
"""

from __future__ import annotations

import jax

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

REACH = 3.0  # m; a constant push of 1 N ends 4 m away
CONTROL_COST = 0.25
NOISE = 0.05  # m
INTEGRATION = Integration(timestep=0.05, substeps=2)


def robot() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], contype=0, rgba=[0.8, 0.9, 0.8, 1]
    )
    spec.worldbody.add_light(pos=[0, 0, 4])
    body = spec.worldbody.add_body(name="point", pos=[0, 0, 0.1])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], mass=1, contype=0, rgba=[0.8, 0.3, 0.2, 1])
    for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
        joint = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        joint.damping = [1, 0, 0]
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.ctrlrange = [-1, 1]
        motor.ctrllimited = True
    return spec


def start(key: jax.Array, qpos0: jax.Array, qvel0: jax.Array) -> tuple[jax.Array, jax.Array]:
    return qpos0 + jax.random.uniform(key, qpos0.shape, minval=-NOISE, maxval=NOISE), qvel0


def observe(physics: Physics) -> Array:
    return physics.xp.concat([physics.qpos / REACH, physics.qvel, physics.remaining[..., None]], axis=-1)


def reward(before: Physics, control: Array, after: Physics) -> Array:
    return 1.0 - CONTROL_COST * locomotion.squares(control)


point_omni = Task(
    name="point_omni",
    summary="Point mass: reach every position within 3 m with little effort; for quick checks",
    horizon=50,
    observations=("x / 3 m", "y / 3 m", "velocity x (m/s)", "velocity y (m/s)", "share of the episode left"),
    actions=("x", "y"),
    descriptor=locomotion.final_position(REACH),
    integration=INTEGRATION,
    robot=robot,
    start=start,
    observe=observe,
    reward=reward,
    terminated=locomotion.never,
    step_descriptor=locomotion.torso_position,
    descriptor_from_observation=locomotion.position_from_observation(REACH),
)
