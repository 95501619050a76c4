"""The half cheetah: a planar body on a front and a back leg that cannot fall.

Its first observation, qpos[1], is the torso's height above its height in the model file, 0.7 m: 0 at rest.

reward v_x - 0.1 |u|^2, clipped at 0
"""

from __future__ import annotations

from dcrl.tasks import locomotion
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

CONTROL_COST = 0.1

JOINTS = ("back_thigh", "back_shin", "back_foot", "front_thigh", "front_shin", "front_foot")
INTEGRATION = Integration(timestep=0.01, substeps=5)


def robot() -> mujoco.MjSpec:
    return locomotion.gymnasium_robot("half_cheetah.xml", ("ffoot", "bfoot"))


def observe(physics: Physics) -> Array:
    """The pitch is two numbers, w and y of its quaternion, as in the paper's model: 19 in all."""
    xp, half_pitch = physics.xp, physics.qpos[..., 2:3] / 2
    return xp.concat(
        [
            physics.qpos[..., 1:2],
            xp.cos(half_pitch),
            xp.sin(half_pitch),
            physics.qpos[..., 3:],
            physics.qvel,
            physics.remaining[..., None],
        ],
        axis=-1,
    )


def reward(before: Physics, control: Array, after: Physics) -> Array:
    forward = locomotion.forward_velocity(before, after)
    return after.xp.maximum(forward - CONTROL_COST * locomotion.squares(control), 0.0)


halfcheetah_uni = Task(
    name="halfcheetah_uni",
    summary="Half cheetah: run forward, using two feet in every possible way",
    horizon=1000,
    observations=locomotion.planar_labels(
        "torso quaternion w", "torso quaternion y", joints=JOINTS, height="torso z minus 0.7 m (m)"
    ),
    actions=JOINTS,
    descriptor=locomotion.contact_rates(("front foot", "back foot")),
    integration=INTEGRATION,
    robot=robot,
    start=locomotion.start_noise(0.1, normal_velocity=True),
    observe=observe,
    reward=reward,
    terminated=locomotion.never,
    step_descriptor=locomotion.feet_contacts,
)
