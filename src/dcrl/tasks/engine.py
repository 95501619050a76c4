"""MuJoCo, imported even where the OpenGL that the environment variable MUJOCO_GL names is missing.

MuJoCo loads that library when it is imported, and fails as a whole without it. Only rendering needs it, so
MuJoCo is then imported without OpenGL: everything else works, and rendering reports what is missing.
Other files import MuJoCo from this one, or after it.
"""

from __future__ import annotations

import os

__all__ = ["DATA_FIELDS", "Batch", "SimulationError", "mujoco"]

_chosen = os.environ.get("MUJOCO_GL", "")
try:
    import mujoco
except (AttributeError, ImportError, OSError, RuntimeError):  # each missing library raises its own error
    if not _chosen:
        raise
    os.environ["MUJOCO_GL"] = "disable"
    try:
        import mujoco
    finally:
        os.environ["MUJOCO_GL"] = _chosen

from mujoco.batch import DATA_FIELDS, Batch, SimulationError  # noqa: E402, only now
