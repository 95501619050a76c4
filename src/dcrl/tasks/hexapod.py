"""The hexapod (beyond the paper): six legs of three joints with position actuators, as servos of small robots are.

reward v_x + 0.25 - 0.002 |torque|^2, clipped at 0

An actuator's control is the angle it pulls its joint to; 0 is the standing pose. The policy also sees a clock that
runs at 2 Hz, because a position controller without one must first discover how to oscillate.
"""

from __future__ import annotations

import math

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

HEALTHY_Z = (0.05, 0.25)  # m
UPRIGHT = 0.5  # the least cosine of the torso's tilt
HEALTHY_REWARD = 0.25
TORQUE_COST = 0.002
TOP_SPEED = 10.0  # rad/s, of a joint; unscaled, velocities saturate random policies, whose legs then only tremble
CYCLES = 10  # of the clock in an episode of 5 s

# where each leg is attached (m) and where it points (degrees from x, the front)
LEGS = {
    "left_front": (0.12, 0.06, 45),
    "left_middle": (0.0, 0.08, 90),
    "left_rear": (-0.12, 0.06, 135),
    "right_front": (0.12, -0.06, -45),
    "right_middle": (0.0, -0.08, -90),
    "right_rear": (-0.12, -0.06, -135),
}
SEGMENTS = ("coxa", "femur", "tibia")  # of a leg, from the torso to the foot; each moves on a joint of its name
LENGTHS = (0.05, 0.08, 0.14)  # m
PITCHES = (0, -30, 80)  # degrees below the horizontal, in the standing pose
MASSES = (0.08, 0.10, 0.06)  # kg
JOINTS = tuple(f"{leg}_{segment}" for leg in LEGS for segment in SEGMENTS)
RANGE = 0.6  # rad, of a joint about the standing pose
RADIUS = 0.012  # m, of a leg
STIFFNESS, DAMPING, TORQUE = 15.0, 0.4, 3.0  # N m / rad, N m s / rad, N m
LABELS = (
    "torso z (m)",
    *locomotion.named("torso quaternion {}", ("w", "x", "y", "z")),
    *locomotion.named("{} angle (rad)", JOINTS),
    *locomotion.named("torso velocity {} (m/s)", ("x", "y", "z")),
    *locomotion.named("torso angular velocity {} (rad/s)", ("x", "y", "z")),
    *locomotion.named("{} velocity / (10 rad/s)", JOINTS),
    "clock, sine",
    "clock, cosine",
    "share of the episode left",
)
STANDING = RADIUS + sum(length * math.sin(math.radians(pitch)) for length, pitch in zip(LENGTHS, PITCHES, strict=True))


def robot() -> mujoco.MjSpec:
    """3.0 kg, 0.45 m between opposite middle feet. Every part collides with the floor alone."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    locomotion.add_floor(spec)
    torso = spec.worldbody.add_body(name="torso", pos=[0, 0, STANDING])
    torso.add_freejoint(name="root")
    for side in (-0.05, 0.05):
        _add_capsule(torso, f"torso {side:+}", [-0.12, side, 0, 0.12, side, 0], radius=0.035, mass=0.78)
    for leg, (x, y, direction) in LEGS.items():
        _add_leg(spec, torso, leg, [x, y, 0], math.radians(direction))
    for leg in LEGS:
        locomotion.add_contact_sensor(spec, f"{leg}_tibia", "floor")
    return spec


def _add_leg(spec: mujoco.MjSpec, torso: mujoco.MjsBody, leg: str, hip: list[float], direction: float) -> None:
    """A chain of three segments. Positive angles swing a leg forward and lift its femur and its tibia."""
    forward = -1.0 if hip[1] > 0 else 1.0
    axes = ([0, 0, forward], [0, -1, 0], [0, -1, 0])
    body, place = torso, hip
    for segment, axis, length, pitch, mass in zip(SEGMENTS, axes, LENGTHS, PITCHES, MASSES, strict=True):
        body = body.add_body(name=f"{leg}_{segment}", pos=place)
        if segment == "coxa":  # the frames of femur and tibia keep its direction
            body.quat = [math.cos(direction / 2), 0, 0, math.sin(direction / 2)]
        below = math.radians(pitch)
        place = [length * math.cos(below), 0, -length * math.sin(below)]
        _add_capsule(body, f"{leg}_{segment}", [0, 0, 0, *place], radius=RADIUS, mass=mass)
        joint = body.add_joint(name=f"{leg}_{segment}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        joint.range, joint.limited, joint.armature = [-RANGE, RANGE], True, 0.005
        joint.damping = [DAMPING, 0, 0]
        servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=STIFFNESS)
        servo.ctrlrange, servo.ctrllimited = [-RANGE, RANGE], True
        servo.forcerange, servo.forcelimited = [-TORQUE, TORQUE], True


def _add_capsule(body: mujoco.MjsBody, name: str, ends: list[float], *, radius: float, mass: float) -> None:
    geom = body.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[radius, 0, 0], mass=mass, contype=1
    )
    geom.conaffinity = 0
    geom.rgba = [0.25, 0.35, 0.5, 1] if "torso" in name or "femur" in name else [0.85, 0.45, 0.2, 1]


def observe(physics: Physics) -> Array:
    xp, phase = physics.xp, 2 * math.pi * CYCLES * (1 - physics.remaining[..., None])
    torso, joints = physics.qvel[..., :6], physics.qvel[..., 6:] / TOP_SPEED
    rest = [xp.sin(phase), xp.cos(phase), physics.remaining[..., None]]
    return xp.concat([physics.qpos[..., 2:], torso, joints, *rest], axis=-1)


def reward(before: Physics, control: Array, after: Physics) -> Array:
    forward, effort = locomotion.forward_velocity(before, after), locomotion.squares(after.actuator_force)
    return after.xp.maximum(forward + HEALTHY_REWARD - TORQUE_COST * effort, 0.0)


def terminated(physics: Physics) -> Array:
    z, x, y = physics.qpos[..., 2], physics.qpos[..., 4], physics.qpos[..., 5]
    upright = 1 - 2 * (x * x + y * y)  # the z component of the torso's z axis
    return (z < HEALTHY_Z[0]) | (z > HEALTHY_Z[1]) | (upright < UPRIGHT)


hexapod_uni = Task(
    name="hexapod_uni",
    summary="Hexapod: walk forward, using six feet in every possible way",
    horizon=250,
    observations=LABELS,
    actions=JOINTS,
    descriptor=locomotion.contact_rates(tuple(leg.replace("_", " ") for leg in LEGS)),
    integration=Integration(timestep=0.005, substeps=4),
    robot=robot,
    start=locomotion.start_noise(0.01, normal_velocity=False),
    observe=observe,
    reward=reward,
    terminated=terminated,
    step_descriptor=locomotion.feet_contacts,
    reads=("actuator_force",),
)
