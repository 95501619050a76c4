"""Four-legged robots as tasks: Google's Barkour, which comes with `mujoco-mjx`, and robots of MuJoCo Menagerie.

    pip install 'dcrl-map-elites[mjx]'
    dcrl check-task examples/quadruped/quadruped.py:barkour_omni
    dcrl train examples/quadruped/quadruped.py:barkour_omni --algorithm me

With a copy of https://github.com/google-deepmind/mujoco_menagerie on disk:

    MENAGERIE_ROOT=mujoco_menagerie dcrl check-task examples/quadruped/quadruped.py:go2_omni

omni   final (x, y);                reward 1 - effort, clipped at 0
uni    contact rate of four feet;   reward v_x + 0.5 - effort, clipped at 0
effort is the mean over the joints of (torque / greatest torque)^2

Another robot is another `Quadruped` below. Its MJCF needs a floating base, one actuator per joint, a keyframe of the
standing robot, and a sphere as each foot.
"""

import dataclasses
import math
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import dcrl
from dcrl.tasks import locomotion

SWING = 0.4  # rad, of a joint's target angle about the standing pose
REACH = 1.5  # m, the bound of the omnidirectional descriptor
CYCLES = 10  # of the clock in an episode of 5 s, so 2 Hz
UPRIGHT = 0.6  # the least cosine of the torso's tilt
FEET = ("front left", "front right", "hind left", "hind right")
INTEGRATION = dcrl.Integration(timestep=0.004, substeps=5)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Quadruped:
    """A robot in an MJCF file: its actuators in the file's order, and the bodies that carry the feet."""

    name: str
    file: Callable[[], Path]
    joints: tuple[str, ...]  # in the order of the observed angles
    actuators: tuple[str, ...]
    feet: tuple[str, ...]  # in the order of FEET
    stiffness: float = 35.0  # N m / rad, and
    damping: float = 0.65  # N m s / rad, where the file has torque actuators


def in_mjx() -> Path:
    """Barkour's file in the installed package `mujoco-mjx`."""
    package = find_spec("mujoco.mjx")
    if package is None or package.origin is None:
        raise ValueError("Barkour's model comes with mujoco-mjx: pip install 'dcrl-map-elites[mjx]'")
    return Path(package.origin).parent / "test_data" / "barkour_v0" / "assets" / "barkour_v0_mjx.xml"


def in_menagerie(file: str) -> Callable[[], Path]:
    """A file in the copy of MuJoCo Menagerie that MENAGERIE_ROOT names."""

    def path() -> Path:
        root = os.environ.get("MENAGERIE_ROOT")
        if not root:
            raise ValueError(f"set MENAGERIE_ROOT to a copy of MuJoCo Menagerie, which holds {file}")
        if not (Path(root) / file).is_file():
            raise ValueError(f"MENAGERIE_ROOT is {root!r}, but there is no {file}")
        return Path(root) / file

    return path


def robot(quadruped: Quadruped) -> mujoco.MjSpec:
    """The file's robot on a plane, with position actuators about the standing pose and contact sensors of the feet."""
    spec = mujoco.MjSpec.from_file(str(quadruped.file()))
    if tuple(actuator.name for actuator in spec.actuators) != quadruped.actuators:
        found = ", ".join(actuator.name for actuator in spec.actuators)
        raise ValueError(f"the actuators must be {', '.join(quadruped.actuators)}, got {found}")
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    for geom in list(spec.worldbody.geoms):  # the file's own floor
        spec.delete(geom)
    locomotion.add_floor(spec)
    for body in quadruped.feet:
        (foot,) = (geom for geom in spec.body(body).geoms if geom.type == mujoco.mjtGeom.mjGEOM_SPHERE)
        foot.name = f"{body} foot"
        locomotion.add_contact_sensor(spec, foot.name, "floor")
    pose, torques = standing(quadruped), greatest_torques(quadruped)
    for actuator, torque in zip(spec.actuators, torques, strict=True):
        if actuator.biastype == mujoco.mjtBias.mjBIAS_NONE:  # a motor: its control range is a torque
            actuator.set_to_position(kp=quadruped.stiffness, kv=quadruped.damping)
        actuator.forcerange, actuator.forcelimited = [-torque, torque], True
        angle = pose[actuator.target]
        actuator.ctrlrange, actuator.ctrllimited = [angle - SWING, angle + SWING], True
    spec.visual.headlight.diffuse = [0.3, 0.3, 0.3]  # as bright as the other tasks
    spec.option.iterations, spec.option.ls_iterations = 100, 50  # MuJoCo's own; Barkour's file has fewer, for MJX
    return spec


@cache
def original(quadruped: Quadruped) -> mujoco.MjModel:
    """The file's model as it is, with a keyframe of the standing robot."""
    model = mujoco.MjModel.from_xml_path(str(quadruped.file()))
    if not model.nkey:
        raise ValueError(f"{quadruped.file()} has no keyframe of the standing robot")
    return model


def standing(quadruped: Quadruped) -> dict[str, float]:
    """The height and the joint angles of the first keyframe."""
    model = original(quadruped)
    pose = model.key_qpos[0]
    angles = {joint: float(pose[model.joint(joint).qposadr[0]]) for joint in quadruped.joints}
    return {"height": float(pose[2])} | angles


def greatest_torques(quadruped: Quadruped) -> np.ndarray:
    """(actuators,), in N m: the limit of the force, or of the control if that is a torque."""
    model = original(quadruped)
    limited = model.actuator_forcelimited.astype(bool)
    return np.where(limited, model.actuator_forcerange[:, 1], model.actuator_ctrlrange[:, 1])


def tasks(quadruped: Quadruped) -> tuple[dcrl.Task, dcrl.Task]:
    """The robot's omnidirectional and its unidirectional task."""

    def start(key: jax.Array, qpos: jax.Array, qvel: jax.Array) -> tuple[jax.Array, jax.Array]:
        pose = standing(quadruped)
        qpos = jnp.array([0, 0, pose["height"], 1, 0, 0, 0, *(pose[joint] for joint in quadruped.joints)])
        return locomotion.start_noise(0.02, normal_velocity=False)(key, qpos, qvel)

    def observe(physics):
        xp, phase = physics.xp, 2 * math.pi * CYCLES * (1 - physics.remaining[..., None])
        clock = [xp.sin(phase), xp.cos(phase)]
        return xp.concat([physics.qpos[..., 2:], physics.qvel, *clock, physics.remaining[..., None]], axis=-1)

    def observe_position(physics):
        return physics.xp.concat([physics.qpos[..., :2] / REACH, observe(physics)], axis=-1)

    def effort(physics):
        share = physics.actuator_force / greatest_torques(quadruped)
        return locomotion.squares(share) / len(quadruped.actuators)

    def omni_reward(before, control, after):
        return after.xp.maximum(1.0 - effort(after), 0.0)

    def uni_reward(before, control, after):
        return after.xp.maximum(locomotion.forward_velocity(before, after) + 0.5 - effort(after), 0.0)

    def terminated(physics):
        z, x, y = physics.qpos[..., 2], physics.qpos[..., 4], physics.qpos[..., 5]
        height = standing(quadruped)["height"]
        return (z < 0.5 * height) | (z > 2 * height) | (1 - 2 * (x * x + y * y) < UPRIGHT)

    labels = (
        "torso z (m)",
        *locomotion.named("torso quaternion {}", ("w", "x", "y", "z")),
        *locomotion.named("{} angle (rad)", quadruped.joints),
        *locomotion.named("torso velocity {} (m/s)", ("x", "y", "z")),
        *locomotion.named("torso angular velocity {} (rad/s)", ("x", "y", "z")),
        *locomotion.named("{} velocity (rad/s)", quadruped.joints),
        *("clock, sine", "clock, cosine", "share of the episode left"),
    )
    uni = dcrl.Task(
        name=f"{quadruped.name}_uni",
        summary=f"{quadruped.name.title()}: walk forward, using four feet in every possible way",
        horizon=250,
        observations=labels,
        actions=quadruped.actuators,
        descriptor=locomotion.contact_rates(FEET),
        integration=INTEGRATION,
        robot=lambda: robot(quadruped),
        start=start,
        observe=observe,
        reward=uni_reward,
        terminated=terminated,
        step_descriptor=locomotion.feet_contacts,
        reads=("actuator_force",),
    )
    omni = dataclasses.replace(
        uni,
        name=f"{quadruped.name}_omni",
        summary=f"{quadruped.name.title()}: walk to every position within {REACH} m with little effort",
        observations=(f"torso x / {REACH} m", f"torso y / {REACH} m", *labels),
        descriptor=locomotion.final_position(REACH),
        observe=observe_position,
        reward=omni_reward,
        step_descriptor=locomotion.torso_position,
        descriptor_from_observation=locomotion.position_from_observation(REACH),
    )
    return omni, uni


def joints_of(legs: tuple[str, ...], template: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(template.format(leg=leg, part=part) for leg in legs for part in parts)


BARKOUR = Quadruped(
    name="barkour",
    file=in_mjx,
    joints=joints_of(
        ("front_right", "front_left", "hind_right", "hind_left"), "{part}_{leg}", ("abduction", "hip", "knee")
    ),
    actuators=joints_of(
        ("front_left", "hind_left", "front_right", "hind_right"), "{part}_{leg}", ("abduction", "hip", "knee")
    ),
    feet=tuple(f"lower_leg_1to1_{foot.replace(' ', '_')}" for foot in FEET),
)
GO2 = Quadruped(
    name="go2",
    file=in_menagerie("unitree_go2/go2.xml"),
    joints=joints_of(("FL", "FR", "RL", "RR"), "{leg}_{part}_joint", ("hip", "thigh", "calf")),
    actuators=joints_of(("FR", "FL", "RR", "RL"), "{leg}_{part}", ("hip", "thigh", "calf")),
    feet=("FL_calf", "FR_calf", "RL_calf", "RR_calf"),
)

barkour_omni, barkour_uni = tasks(BARKOUR)
go2_omni, go2_uni = tasks(GO2)
