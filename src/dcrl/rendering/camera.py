"""Rendering a MuJoCo model with OpenGL, without a window."""

from __future__ import annotations

import copy
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dcrl.tasks.engine import mujoco

HELP = (
    "set the environment variable MUJOCO_GL to egl (needs PyOpenGL and libEGL), osmesa or glfw (needs a display), "
    "whichever this machine has; Debian and Ubuntu have EGL in software as libegl1 and libegl-mesa0"
)


class Camera:
    """Renders a model as its author set it up. Owns an OpenGL context, so `close` it.

    It uses the model's first camera, or else follows the robot's first body.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        model = copy.copy(model)  # the simulation's own stays unchanged
        model.vis.global_.offwidth = max(width, model.vis.global_.offwidth)
        model.vis.global_.offheight = max(height, model.vis.global_.offheight)
        self._renderer = open_renderer(model, width, height)
        self._view = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, self._view)
        if model.ncam:
            self._view.type, self._view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
        elif model.nbody > 1:
            self._view.type, self._view.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, 1

    def picture(self, data: mujoco.MjData) -> NDArray[np.uint8]:
        """(height, width, 3)."""
        self._renderer.update_scene(data, self._view)
        picture: NDArray[np.uint8] = self._renderer.render()
        return picture

    def close(self) -> None:
        self._renderer.close()


def open_renderer(model: mujoco.MjModel, width: int, height: int) -> mujoco.Renderer:
    """The renderer of a model, which owns an OpenGL context, so `close` it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error below says it once
            if _headless():
                from mujoco import egl
                from mujoco.rendering.classic import gl_context

                gl_context.GLContext = egl.GLContext
            return mujoco.Renderer(model, height, width)
    except Exception as error:  # each backend fails in its own way
        raise RuntimeError(f"this machine cannot render: {HELP} ({type(error).__name__}: {error})") from None


def available() -> bool:
    """Whether this machine has the libraries to render; opens no context."""
    if not _headless():
        return hasattr(mujoco, "GLContext")
    try:
        CDLL("libEGL.so.1")
    except OSError:
        return False
    return find_spec("OpenGL") is not None


@contextmanager
def egl_if_headless() -> Iterator[None]:
    """For code that reads MUJOCO_GL itself, such as Gymnasium's MuJoCo environments at their first picture."""
    if not _headless():
        yield
        return
    before = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "egl"
    try:
        yield
    finally:
        del os.environ["MUJOCO_GL"]
        if before is not None:
            os.environ["MUJOCO_GL"] = before


def _headless() -> bool:
    """No display and no MUJOCO_GL: MuJoCo would try GLFW, which needs a display; EGL does not."""
    chosen = {"MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    return sys.platform == "linux" and not any(os.environ[name] for name in chosen)
