"""The hopper (beyond the paper): a planar body on one leg.

reward v_x + 1 - 0.001 |u|^2, clipped at 0; one foot, so the descriptor has one dimension
"""

from __future__ import annotations

from dcrl.tasks import locomotion, walker2d
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Integration, Task
from dcrl.types import Array, Physics

HEALTHY_Z = 0.7  # m, at least
HEALTHY_PITCH = 0.2  # rad
HEALTHY_STATE = 100.0  # everything but x and z, as Gymnasium checks

JOINTS = ("thigh", "leg", "foot")
INTEGRATION = Integration(timestep=0.002, substeps=4)


def robot() -> mujoco.MjSpec:
    return locomotion.gymnasium_robot("hopper.xml", ("foot_geom",))


def terminated(physics: Physics) -> Array:
    z, pitch = physics.qpos[..., 1], physics.qpos[..., 2]
    state = physics.xp.concat([physics.qpos[..., 2:], physics.qvel], axis=-1)
    wild = (abs(state) >= HEALTHY_STATE).any(-1)
    return (z <= HEALTHY_Z) | (abs(pitch) >= HEALTHY_PITCH) | wild


hopper_uni = Task(
    name="hopper_uni",
    summary="Hopper: run forward, using one foot in every possible way",
    horizon=1000,
    observations=locomotion.planar_labels("torso pitch (rad)", joints=JOINTS),
    actions=JOINTS,
    descriptor=locomotion.contact_rates(("foot",)),
    integration=INTEGRATION,
    robot=robot,
    start=locomotion.start_noise(5e-3, normal_velocity=False),
    observe=walker2d.observe,
    reward=walker2d.reward,
    terminated=terminated,
    step_descriptor=locomotion.feet_contacts,
)
