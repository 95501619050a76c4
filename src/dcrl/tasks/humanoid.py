"""The humanoid: a torso with two legs and two arms that must not fall.

humanoid_omni   reward 5 - 0.1 |u|^2
humanoid_uni    reward 1.25 v_x (of the centre of mass) + 5 - 0.1 |u|^2, clipped at 0
u is the scaled control, in +-0.4.
"""

from __future__ import annotations

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

REACH = 10.0  # m, the descriptor's bound on the omnidirectional task
HEALTHY_Z = (1.0, 2.0)  # m
FORWARD_WEIGHT = 1.25
HEALTHY_REWARD = 5.0
CONTROL_COST = 0.1

FEET = ("right_foot", "left_foot")
# The links are the bodies that own joints; a foot has none and belongs to its shin.
LINKS = {
    "torso": (1,),
    "lwaist": (2,),
    "pelvis": (3,),
    "right_thigh": (4,),
    "right_shin": (5, 6),
    "left_thigh": (7,),
    "left_shin": (8, 9),
    "right_upper_arm": (10,),
    "right_lower_arm": (11,),
    "left_upper_arm": (12,),
    "left_lower_arm": (13,),
}
JOINTS = (
    *("abdomen_z", "abdomen_y", "abdomen_x"),
    *("right_hip_x", "right_hip_z", "right_hip_y", "right_knee"),
    *("left_hip_x", "left_hip_z", "left_hip_y", "left_knee"),
    *("right_shoulder1", "right_shoulder2", "right_elbow"),
    *("left_shoulder1", "left_shoulder2", "left_elbow"),
)
ACTUATORS = ("abdomen_y", "abdomen_z", *JOINTS[2:])
INERTIA = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz", "m dx", "m dy", "m dz", "mass")
ROOT_VELOCITIES = ("x", "y", "z", "roll", "pitch", "yaw")
LABELS = (
    "torso z (m)",
    *locomotion.named("torso quaternion {}", ("w", "x", "y", "z")),
    *locomotion.named("{} angle (rad)", JOINTS),
    *locomotion.named("torso velocity {} (m/s, rad/s)", ROOT_VELOCITIES),
    *locomotion.named("{} velocity (rad/s)", JOINTS),
    *(f"{link} {part} about the centre of mass (kg, m)" for link in LINKS for part in INERTIA),
    *(f"{link} angular velocity {axis} (rad/s)" for link in LINKS for axis in "xyz"),
    *(f"{link} velocity {axis} (m/s)" for link in LINKS for axis in "xyz"),
    *locomotion.named("torso actuator force {} (N, N m)", ROOT_VELOCITIES),
    *locomotion.named("{} actuator torque (N m)", JOINTS),
    "share of the episode left",
)
INTEGRATION = Integration(timestep=0.003, substeps=5)


def robot() -> mujoco.MjSpec:
    return locomotion.gymnasium_robot("humanoid.xml", FEET)


def observe(physics: Physics) -> Array:
    xp = physics.xp
    inertia = xp.concat([sum(physics.cinert[..., body, :] for body in bodies) for bodies in LINKS.values()], axis=-1)
    first_bodies = [bodies[0] for bodies in LINKS.values()]
    spin, velocity = (
        xp.concat([physics.cvel[..., body, part] for body in first_bodies], axis=-1)
        for part in (slice(0, 3), slice(3, 6))
    )
    return xp.concat(
        [
            physics.qpos[..., 2:],
            physics.qvel,
            inertia,
            spin,
            velocity,
            physics.qfrc_actuator,
            physics.remaining[..., None],
        ],
        axis=-1,
    )


def observe_position(physics: Physics) -> Array:
    return physics.xp.concat([locomotion.torso_position(physics) / REACH, observe(physics)], axis=-1)


def terminated(physics: Physics) -> Array:
    z = physics.qpos[..., 2]
    return (z <= HEALTHY_Z[0]) | (z >= HEALTHY_Z[1])


def omni_reward(before: Physics, control: Array, after: Physics) -> Array:
    return after.xp.maximum(HEALTHY_REWARD - CONTROL_COST * locomotion.squares(control), 0.0)


def uni_reward(before: Physics, control: Array, after: Physics) -> Array:
    forward = (after.subtree_com[..., 1, 0] - before.subtree_com[..., 1, 0]) / after.period
    cost = CONTROL_COST * locomotion.squares(control)
    return after.xp.maximum(FORWARD_WEIGHT * forward + HEALTHY_REWARD - cost, 0.0)


start = locomotion.start_noise(1e-2, normal_velocity=False)

humanoid_omni = Task(
    name="humanoid_omni",
    summary="Humanoid: reach every position within 10 m with little effort",
    horizon=1000,
    observations=("torso x / 10 m", "torso y / 10 m", *LABELS),
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
    reads=("cinert", "cvel", "qfrc_actuator"),
)

humanoid_uni = Task(
    name="humanoid_uni",
    summary="Humanoid: run forward, using two feet in every possible way",
    horizon=1000,
    observations=LABELS,
    actions=ACTUATORS,
    descriptor=locomotion.contact_rates(("right foot", "left foot")),
    integration=INTEGRATION,
    robot=robot,
    start=start,
    observe=observe,
    reward=uni_reward,
    terminated=terminated,
    step_descriptor=locomotion.feet_contacts,
    reads=("cinert", "cvel", "qfrc_actuator", "subtree_com"),
)
