"""MuJoCo, imported even where the OpenGL that the environment variable MUJOCO_GL names is missing.

MuJoCo loads that library when it is imported, and fails as a whole without it. Only drawing needs it, so
here MuJoCo is then imported without OpenGL: all else works, and what draws says that it cannot.
Other files import MuJoCo from this one, or after it.
"""

from __future__ import annotations

import os

__all__ = ["DATA_FIELDS", "Batch", "SimulationError", "mujoco"]

_chosen = os.environ.get("MUJOCO_GL", "")
try:
    import mujoco
except (AttributeError, ImportError, OSError, RuntimeError):  # each library is missing in its own way
    if not _chosen:
        raise
    os.environ["MUJOCO_GL"] = "disable"
    try:
        import mujoco
    finally:
        os.environ["MUJOCO_GL"] = _chosen

from mujoco.batch import DATA_FIELDS, Batch, SimulationError  # noqa: E402, only now
