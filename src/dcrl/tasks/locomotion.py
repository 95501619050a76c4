"""What the walking robots share: Gymnasium's models, contact sensors of the feet, the start noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gymnasium
import jax

from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Start
from dcrl.types import Array, Descriptor, Physics

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def gymnasium_robot(file: str, feet: tuple[str, ...]) -> mujoco.MjSpec:
    """A robot of the installed Gymnasium with one contact sensor per foot geom against the floor."""
    spec = mujoco.MjSpec.from_file(str(ASSETS / file))
    for foot in feet:
        add_contact_sensor(spec, foot, "floor")
    return spec


def add_contact_sensor(spec: mujoco.MjSpec, geom: str, other: str) -> None:
    """Add a sensor that counts the contacts between two geoms, one number in `sensordata`."""
    found = 1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND)
    spec.add_sensor(
        name=f"{geom} on {other}",
        type=mujoco.mjtSensor.mjSENS_CONTACT,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname=geom,
        reftype=mujoco.mjtObj.mjOBJ_GEOM,
        refname=other,
        intprm=[found, 0, 1],
    )


def add_floor(spec: mujoco.MjSpec) -> None:
    """Add a plane named `floor` with squares of 0.5 m, and a light if there is none. Geoms of contype 1 touch it."""
    squares = spec.add_texture(name="floor", type=mujoco.mjtTexture.mjTEXTURE_2D, width=300, height=300)
    squares.builtin = mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    squares.rgb1, squares.rgb2 = [0.8, 0.88, 0.8], [0.68, 0.78, 0.7]
    material = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20, 20, 0.1])
    floor.contype, floor.conaffinity, floor.material = 1, 1, "floor"
    if not spec.lights:
        spec.worldbody.add_light(pos=[0, 0, 3])


def start_noise(scale: float, *, normal_velocity: bool) -> Start:
    """Gymnasium's start: uniform noise of +-scale on qpos; on qvel the same, or scale times a normal."""

    def start(key: jax.Array, qpos0: jax.Array, qvel0: jax.Array) -> tuple[jax.Array, jax.Array]:
        key_position, key_velocity = jax.random.split(key)
        qpos = qpos0 + jax.random.uniform(key_position, qpos0.shape, minval=-scale, maxval=scale)
        if normal_velocity:
            qvel = qvel0 + scale * jax.random.normal(key_velocity, qvel0.shape)
        else:
            qvel = qvel0 + jax.random.uniform(key_velocity, qvel0.shape, minval=-scale, maxval=scale)
        return qpos, qvel

    return start


def feet_contacts(physics: Physics) -> Array:
    """(..., feet): 1 where a foot touches the floor at the end of the control step, else 0."""
    return (physics.sensordata > 0) * 1.0


def contact_rates(feet: tuple[str, ...]) -> Descriptor:
    """The share of the simulated steps in which each foot touches the floor."""
    return Descriptor(
        names=tuple(f"contact rate, {foot}" for foot in feet),
        unit="share of steps",
        low=(0.0,) * len(feet),
        high=(1.0,) * len(feet),
        over="mean",
    )


def final_position(reach: float) -> Descriptor:
    """The torso's position at the last simulated step, within +-reach metres of the origin."""
    return Descriptor(
        names=("final x", "final y"), unit="m", low=(-reach, -reach), high=(reach, reach), over="last", clip=True
    )


def torso_position(physics: Physics) -> Array:
    """(..., 2): x and y of a floating base."""
    return physics.qpos[..., :2]


def position_from_observation(reach: float) -> Callable[[Array], Array]:
    """The torso's x and y from an observation that begins with them, divided by `reach`."""
    return lambda observation: observation[..., :2] * reach


def forward_velocity(before: Physics, after: Physics) -> Array:
    """Of the torso, over the control period, m/s."""
    return (after.qpos[..., 0] - before.qpos[..., 0]) / after.period


def never(physics: Physics) -> Array:
    """No state ends the episode early. (A diverged simulation is invalid whatever a task says.)"""
    return physics.xp.zeros(physics.qpos.shape[:-1], dtype=bool)


def squares(control: Array) -> Array:
    return (control * control).sum(-1)


def named(template: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """One label per name: `named("{} angle (rad)", joints)`."""
    return tuple(template.format(name) for name in names)


def planar_labels(*pitch: str, joints: tuple[str, ...], height: str = "torso z (m)") -> tuple[str, ...]:
    """The observations of a robot that moves in the x-z plane."""
    return (
        height,
        *pitch,
        *named("{} angle (rad)", joints),
        "torso velocity x (m/s)",
        "torso velocity z (m/s)",
        "torso pitch velocity (rad/s)",
        *named("{} velocity (rad/s)", joints),
        "share of the episode left",
    )
