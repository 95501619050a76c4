"""The ant: a torso on four legs. Three tasks: reach places, reach places around a trap, run.

ant_omni, anttrap_omni   reward 4.03 - 0.5 |u|^2 (1 for being healthy, 3.03 so that it stays positive)
ant_uni                  reward v_x + 1 - 0.5 |u|^2, clipped at 0
"""

from __future__ import annotations

import dataclasses

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

REACH = 30.0  # m, the descriptor's bound on the omnidirectional tasks
HEALTHY_Z = (0.2, 1.0)  # m
CONTROL_COST = 0.5
OMNI_OFFSET = 3.03

FEET = ("left_ankle_geom", "right_ankle_geom", "third_ankle_geom", "fourth_ankle_geom")
JOINTS = tuple(f"{joint}_{leg}" for leg in (1, 2, 3, 4) for joint in ("hip", "ankle"))
ACTUATORS = tuple(f"{joint}_{leg}" for leg in (4, 1, 2, 3) for joint in ("hip", "ankle"))
LABELS = (
    "torso z (m)",
    *locomotion.named("torso quaternion {}", ("w", "x", "y", "z")),
    *locomotion.named("{} angle (rad)", JOINTS),
    *locomotion.named("torso velocity {} (m/s)", ("x", "y", "z")),
    *locomotion.named("torso angular velocity {} (rad/s)", ("x", "y", "z")),
    *locomotion.named("{} velocity (rad/s)", JOINTS),
    "share of the episode left",
)
# 0.01 s, Gymnasium's step, throws this light and strong robot into the air unless RK4 is used: docs/simulators.md
INTEGRATION = Integration(timestep=0.005, substeps=10)


def robot() -> mujoco.MjSpec:
    return locomotion.gymnasium_robot("ant.xml", FEET)


def trapped_robot() -> mujoco.MjSpec:
    """The ant before a U of three horizontal capsules, 1 m high, 5 m wide inside, its mouth at x = 6.5 m."""
    spec = robot()
    for name, end, other in (
        ("trap back", (12.0, -2.0), (12.0, 2.0)),
        ("trap left", (7.0, 3.0), (12.0, 3.0)),
        ("trap right", (7.0, -3.0), (12.0, -3.0)),
    ):
        spec.worldbody.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[*end, 0.5, *other, 0.5],
            size=[0.5, 0, 0],
            contype=1,
            conaffinity=1,
            rgba=[0.55, 0.55, 0.6, 1],
        )
    return spec


start = locomotion.start_noise(0.1, normal_velocity=True)


def observe(physics: Physics) -> Array:
    return physics.xp.concat([physics.qpos[..., 2:], physics.qvel, physics.remaining[..., None]], axis=-1)


def observe_position(physics: Physics) -> Array:
    return physics.xp.concat([locomotion.torso_position(physics) / REACH, observe(physics)], axis=-1)


def terminated(physics: Physics) -> Array:
    z = physics.qpos[..., 2]
    return (z < HEALTHY_Z[0]) | (z > HEALTHY_Z[1])


def omni_reward(before: Physics, control: Array, after: Physics) -> Array:
    return after.xp.maximum(1.0 + OMNI_OFFSET - CONTROL_COST * locomotion.squares(control), 0.0)


def uni_reward(before: Physics, control: Array, after: Physics) -> Array:
    forward = locomotion.forward_velocity(before, after)
    return after.xp.maximum(forward + 1.0 - CONTROL_COST * locomotion.squares(control), 0.0)


ant_omni = Task(
    name="ant_omni",
    summary="Ant: reach every position within 30 m with little effort",
    horizon=250,
    observations=("torso x / 30 m", "torso y / 30 m", *LABELS),
    actions=ACTUATORS,
    descriptor=locomotion.final_position(REACH),
    integration=INTEGRATION,
    robot=robot,
    start=start,
    observe=observe_position,
    reward=omni_reward,
    terminated=terminated,
    step_descriptor=locomotion.torso_position,
    descriptor_from_observation=locomotion.position_from_observation(REACH),
)

anttrap_omni = dataclasses.replace(
    ant_omni,
    name="anttrap_omni",
    summary="Ant with a U-shaped trap: reach every position within 30 m with little effort",
    robot=trapped_robot,
)

ant_uni = Task(
    name="ant_uni",
    summary="Ant: run forward, using four feet in every possible way",
    horizon=1000,
    observations=LABELS,
    actions=ACTUATORS,
    descriptor=locomotion.contact_rates(("front left", "back left", "back right", "front right")),
    integration=INTEGRATION,
    robot=robot,
    start=start,
    observe=observe,
    reward=uni_reward,
    terminated=terminated,
    step_descriptor=locomotion.feet_contacts,
)
