"""Pictures of a robot in a lit scene on endless ground, from a camera that keeps it in view."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from dcrl.rendering.camera import open_renderer
from dcrl.tasks.engine import mujoco
from dcrl.tasks.task import Task
from dcrl.types import Floats

SAMPLES = 4  # per pixel, for antialiasing
SHADOW_SIZE = 2048  # texels along a side of the shadow map, at most
SKY, HORIZON = (0.42, 0.58, 0.75), (0.88, 0.92, 0.96)
GROUND = (0.34, 0.40, 0.45), (0.41, 0.47, 0.52)
TRACE = (0.95, 0.75, 0.15, 1.0)
ROBOT_SHARE = 0.75  # of the picture's shorter side that the robot fills
MAX_SPAN = 5.0  # m, the most of a long path that the picture of a small robot shows
SIDE, OBLIQUE = (90.0, -9.0), (120.0, -33.0)  # degrees: azimuth and elevation
LIGHT = (0.3, 0.25, -1.0)
LIGHT_HEIGHT = 6.0  # above the robot, in multiples of its size
SMOOTHING = 0.25  # s, over which the camera smooths the path it follows
MAX_SEGMENTS = 300  # of a trace


@dataclass(frozen=True, kw_only=True)
class View:
    """Where the camera is, relative to the point it looks at."""

    azimuth: float  # degrees
    elevation: float  # degrees
    distance: float  # m
    height: float  # m, of the robot's middle above its first body
    trace: bool  # whether the path so far is drawn on the ground


class Scene:
    """Draws states of one task's robot. Owns an OpenGL context, so `close` it."""

    def __init__(self, task: Task, width: int, height: int) -> None:
        self._model = _model_in_scene(task, width, height)
        self._data = mujoco.MjData(self._model)
        self._renderer = open_renderer(self._model, width, height)
        self._aspect = max(1.0, height / width)

    def view(self, qpos: Floats, path: Floats) -> View:
        """The view of a motion: from the side if it stays in a plane, else from obliquely above."""
        self._set(qpos[0])
        low, high = _bounding_box(self._model, self._data)
        planar = bool(np.ptp(path[:, 1]) < 1e-9)
        span = float(np.linalg.norm(high - low))
        if not planar:
            span = max(span, min(float(np.ptp(path, axis=0).max()), MAX_SPAN))
        field_of_view = np.radians(self._model.vis.global_.fovy)
        distance = float(span * self._aspect / ROBOT_SHARE / 2 / np.tan(field_of_view / 2))
        middle = float((low + high)[2] / 2 - path[0, 2])
        azimuth, elevation = SIDE if planar else OBLIQUE
        return View(azimuth=azimuth, elevation=elevation, distance=distance, height=middle, trace=not planar)

    def picture(self, qpos: Floats, target: Floats, view: View, path: Floats) -> NDArray[np.uint8]:
        """(height, width, 3) of one state, looking at `target` (3,); `path` (n, 3) is the path so far."""
        self._set(qpos)
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        camera.lookat[:] = target
        camera.lookat[2] += view.height
        camera.azimuth, camera.elevation, camera.distance = view.azimuth, view.elevation, view.distance
        self._renderer.update_scene(self._data, camera)
        overhead = np.array([target[0], target[1], 0]) - LIGHT_HEIGHT * self._model.stat.extent * np.array(LIGHT)
        for light in self._renderer.scene.lights[: self._renderer.scene.nlight]:
            if not light.headlight:  # shadows fall only near the point below it
                light.pos[:] = overhead
        if view.trace:
            self._draw_trace(path, 0.005 * view.distance)
        drawn: NDArray[np.uint8] = self._renderer.render()  # a new array each time
        return drawn

    def interpolate(self, one: Floats, other: Floats, share: float) -> Floats:
        """The state that is `share` of the way from one to another; joints turn along the shortest rotation."""
        difference, found = np.zeros(self._model.nv), one.copy()
        mujoco.mj_differentiatePos(self._model, difference, 1, one, other)
        mujoco.mj_integratePos(self._model, found, difference, share)
        return found

    def close(self) -> None:
        self._renderer.close()

    def _set(self, qpos: Floats) -> None:
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def _draw_trace(self, path: Floats, radius: float) -> None:
        """A line on the ground."""
        scene = self._renderer.scene
        points = path[:: max(1, -(-len(path) // MAX_SEGMENTS))].copy()
        points[:, 2] = 0
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE
        for one, other in pairwise(points):
            if np.linalg.norm(other - one) < 1e-6 or scene.ngeom >= scene.maxgeom:
                continue
            geom = scene.geoms[scene.ngeom]
            mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.zeros(9), np.array(TRACE, np.float32))
            mujoco.mjv_connector(geom, kind, radius, one, other)
            geom.emission = 0.5
            scene.ngeom += 1


def smoothed(path: Floats, period: float) -> Floats:
    """(S + 1, 3), the points a camera looks at to follow a path without shaking."""
    return np.asarray(gaussian_filter1d(path, SMOOTHING / period, axis=0, mode="nearest"))


def _model_in_scene(task: Task, width: int, height: int) -> mujoco.MjModel:
    """The task's robot with light from above, a sky, and chequered ground of 1 m squares."""
    spec = task.robot()
    for light in list(spec.lights):
        spec.delete(light)
    for texture in list(spec.textures):
        if texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX:
            spec.delete(texture)
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[0, 0, 30],
        dir=LIGHT,
        diffuse=[0.65, 0.63, 0.6],
        specular=[0.15, 0.15, 0.15],
        castshadow=True,
    )
    spec.add_texture(
        name="dcrl sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=HORIZON,
        rgb2=SKY,
        width=256,
        height=256,
    )
    spec.add_texture(
        name="dcrl ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=GROUND[0],
        rgb2=GROUND[1],
        width=256,
        height=256,
    )
    ground = spec.add_material(name="dcrl ground", texuniform=True, texrepeat=[0.5, 0.5], reflectance=0.0)
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "dcrl ground"
    for geom in spec.worldbody.geoms:
        level = geom.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT and np.array_equal(geom.quat, [1, 0, 0, 0])
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and level:
            geom.material, geom.rgba, geom.size = "dcrl ground", [1, 1, 1, 1], [0, 0, 1]
    look = spec.visual
    look.headlight.ambient, look.headlight.diffuse, look.headlight.specular = [0.4] * 3, [0.25] * 3, [0] * 3
    look.quality.shadowsize, look.quality.offsamples = min(SHADOW_SIZE, 4 * max(width, height)), SAMPLES
    look.rgba.haze = [*HORIZON, 1]
    look.global_.offwidth, look.global_.offheight = width, height
    look.map.znear, look.map.zfar, look.map.haze = 0.05, 100, 0.2
    look.map.shadowclip, look.map.shadowscale = 3, 0.9
    with warnings.catch_warnings():  # the task's own model has given these warnings already
        warnings.simplefilter("ignore")
        model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    low, high = _bounding_box(model, data)
    model.stat.extent = max(1.0, np.linalg.norm(high - low))  # the scale of shadows, haze and clipping
    return model


def _bounding_box(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Floats, Floats]:
    """The corners of the box around all moving geoms; of a 1 m cube if there are none."""
    moving = model.body_weldid[model.geom_bodyid] != 0
    if not moving.any():
        return np.array([-0.5, -0.5, 0.0]), np.array([0.5, 0.5, 1.0])
    at, around = data.geom_xpos[moving], model.geom_rbound[moving, None]
    return (at - around).min(axis=0), (at + around).max(axis=0)
