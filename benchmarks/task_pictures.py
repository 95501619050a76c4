"""The pictures of docs/tasks: each robot in a pose, and the trap seen from above.

    python benchmarks/task_pictures.py

Needs OpenGL: docs/render.md says what to install.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle
from PIL import Image

from dcrl.rendering.camera import open_renderer
from dcrl.tasks import registry
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Task

FOLDER = Path(__file__).parents[1] / "docs" / "figures" / "tasks"
WIDTH, HEIGHT = 480, 320
COLOURS = 96  # of the palette, which keeps a picture under 60 kB


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A camera, and the pose it shows: joint angles in rad; joints not named keep their default."""

    distance: float  # m
    azimuth: float  # degrees
    elevation: float  # degrees
    pose: dict[str, float] = field(default_factory=dict)
    aim: tuple[float, float, float] | None = None  # m; None: the robot's centre of mass


CROUCH = {"ankle_1": 1.0, "ankle_2": -1.0, "ankle_3": -1.0, "ankle_4": 1.0}
STRIDE = {"right_hip_y": -0.9, "right_knee": -0.5, "left_hip_y": 0.3, "left_knee": -0.6, "right_shoulder1": 0.6}
WALK = {"thigh_joint": -0.1, "leg_joint": -0.2, "thigh_left_joint": -0.7, "leg_left_joint": -0.9}
GALLOP = {"bthigh": -0.4, "bshin": 0.3, "fthigh": 0.6, "fshin": -0.5}
HOP = {"thigh_joint": -0.4, "leg_joint": -0.8, "foot_joint": 0.5}
TRIPOD = {
    f"{leg}_{joint}": angle
    for leg in ("left_front", "left_rear", "right_middle")
    for joint, angle in (("coxa", 0.4), ("femur", 0.5))
}
SHOTS = {
    "ant_omni": Shot(distance=3, azimuth=130, elevation=-25, pose=CROUCH),
    "anttrap_omni": Shot(distance=14, azimuth=35, elevation=-30, pose=CROUCH, aim=(5, 0, 0)),
    "ant_uni": Shot(distance=3, azimuth=75, elevation=-12, pose=CROUCH | {"hip_1": -0.5, "hip_2": 0.5}),
    "humanoid_omni": Shot(distance=3, azimuth=135, elevation=-12, pose={"right_hip_y": -0.7, "right_knee": -0.9}),
    "humanoid_uni": Shot(distance=3, azimuth=75, elevation=-8, pose=STRIDE),
    "walker2d_uni": Shot(distance=3, azimuth=90, elevation=-6, pose=WALK),
    "halfcheetah_uni": Shot(distance=2.6, azimuth=90, elevation=-8, pose=GALLOP),
    "hopper_uni": Shot(distance=3, azimuth=90, elevation=-6, pose=HOP),
    "hexapod_uni": Shot(distance=0.8, azimuth=140, elevation=-25, pose=TRIPOD),
    "point_omni": Shot(distance=2.5, azimuth=90, elevation=-30),
}


def robot(task: Task, shot: Shot) -> np.ndarray:
    """(HEIGHT, WIDTH, 3): the robot in its pose, its lowest foot on the floor."""
    model, data = task.model, mujoco.MjData(task.model)
    mujoco.mj_resetData(model, data)
    for joint, angle in shot.pose.items():
        data.joint(joint).qpos[0] = angle
    mujoco.mj_kinematics(model, data)
    if task.name != "point_omni":
        data.qpos[2 if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1] -= lowest(model, data)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = data.subtree_com[1] if shot.aim is None else shot.aim
    camera.distance, camera.azimuth, camera.elevation = shot.distance, shot.azimuth, shot.elevation
    with open_renderer(model, WIDTH, HEIGHT) as renderer:
        renderer.update_scene(data, camera)
        return renderer.render()


def lowest(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Height in metres of the lowest point of the robot, whose geoms are spheres and capsules."""
    own = (model.geom_bodyid > 0) & (model.geom_contype > 0)
    capsule = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    drop = model.geom_size[:, 0] + capsule * model.geom_size[:, 1] * abs(data.geom_xmat[:, 8])
    return float((data.geom_xpos[:, 2] - drop)[own].min())


def save(pixels: np.ndarray, name: str) -> None:
    Image.fromarray(pixels).quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)


def trap() -> None:
    """The trap's walls where the model has them, within the descriptor's bounds."""
    task = registry.BUILT_IN["anttrap_omni"]
    figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
    for name in ("trap back", "trap left", "trap right"):
        geom = task.model.geom(name)
        radius, half_length = geom.size[:2]
        x, y = geom.pos[:2]
        along_y = name == "trap back"
        dx, dy = (radius, half_length + radius) if along_y else (half_length + radius, radius)
        axes.add_patch(Rectangle((x - dx, y - dy), 2 * dx, 2 * dy, color="0.45"))
    axes.plot(0, 0, "o", color="tab:red")
    axes.annotate("start", (0, 0), (-8, 2))
    low, high = task.descriptor.low, task.descriptor.high
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="final x (m)", ylabel="final y (m)", aspect="equal")
    axes.grid(alpha=0.3)
    figure.savefig(FOLDER / "trap_from_above.png", dpi=80)
    plt.close(figure)


def main() -> None:
    matplotlib.use("agg")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, shot in SHOTS.items():
        save(robot(registry.BUILT_IN[name], shot), name)
    trap()


if __name__ == "__main__":
    main()
