"""The walker: a planar body on two legs that must not fall.

reward v_x + 1 - 0.001 |u|^2, clipped at 0
"""

from __future__ import annotations

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

HEALTHY_Z = (0.8, 2.0)  # m
HEALTHY_PITCH = 1.0  # rad
CONTROL_COST = 1e-3
TOP_SPEED = 10.0  # velocities are clipped to this in the observation, as Gymnasium does

JOINTS = ("right_thigh", "right_leg", "right_foot", "left_thigh", "left_leg", "left_foot")
INTEGRATION = Integration(timestep=0.002, substeps=4)


def robot() -> mujoco.MjSpec:
    return locomotion.gymnasium_robot("walker2d_v5.xml", ("foot_geom", "foot_left_geom"))


def observe(physics: Physics) -> Array:
    velocity = physics.xp.clip(physics.qvel, -TOP_SPEED, TOP_SPEED)
    return physics.xp.concat([physics.qpos[..., 1:], velocity, physics.remaining[..., None]], axis=-1)


def reward(before: Physics, control: Array, after: Physics) -> Array:
    forward = locomotion.forward_velocity(before, after)
    return after.xp.maximum(forward + 1.0 - CONTROL_COST * locomotion.squares(control), 0.0)


def terminated(physics: Physics) -> Array:
    z, pitch = physics.qpos[..., 1], physics.qpos[..., 2]
    return (z <= HEALTHY_Z[0]) | (z >= HEALTHY_Z[1]) | (abs(pitch) >= HEALTHY_PITCH)


walker2d_uni = Task(
    name="walker2d_uni",
    summary="Walker: run forward, using two feet in every possible way",
    horizon=1000,
    observations=locomotion.planar_labels("torso pitch (rad)", joints=JOINTS),
    actions=JOINTS,
    descriptor=locomotion.contact_rates(("right foot", "left foot")),
    integration=INTEGRATION,
    robot=robot,
    start=locomotion.start_noise(5e-3, normal_velocity=False),
    observe=observe,
    reward=reward,
    terminated=terminated,
    step_descriptor=locomotion.feet_contacts,
)
