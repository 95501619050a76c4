"""MuJoCo, imported even where the OpenGL that the environment variable MUJOCO_GL names is missing.

MuJoCo loads that library when it is imported, and fails as a whole without it. Only drawing needs it, so
here MuJoCo is then imported without OpenGL: all else works, and what draws says that it cannot.
"""

from __future__ import annotations

import os


def load_mujoco() -> None:
    """Import MuJoCo, without OpenGL if need be. To be called before anything else imports it."""
    chosen = os.environ.get("MUJOCO_GL", "")
    try:
        import mujoco
    except (AttributeError, ImportError, OSError, RuntimeError):  # each library is missing in its own way
        if not chosen:
            raise
        os.environ["MUJOCO_GL"] = "disable"
        try:
            import mujoco  # noqa: F401
        finally:
            os.environ["MUJOCO_GL"] = chosen


load_mujoco()
