"""Repertoires of behaviours: quality-diversity with descriptor-conditioned reinforcement learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dcrl import opengl  # noqa: F401, first: it imports MuJoCo, which must not fail for want of OpenGL

# isort: split
from dcrl import environments  # registers dcrl/AntOmni-v0 and the others with Gymnasium
from dcrl.rollout import rollout
from dcrl.tasks.gymnasium import GymnasiumTask, from_info
from dcrl.tasks.task import Integration, Task
from dcrl.types import Descriptor, Evaluation, Physics, Transitions
from dcrl.version import __version__

if TYPE_CHECKING:
    from dcrl.api import resume, train
    from dcrl.deployment.export import export
    from dcrl.runs.repertoire import Repertoire, load

# Imported when they are asked for: the algorithms behind them take a second that looking at a repertoire can do without
LATER = {
    "export": "dcrl.deployment.export",
    "load": "dcrl.runs.repertoire",
    "Repertoire": "dcrl.runs.repertoire",
    "resume": "dcrl.api",
    "train": "dcrl.api",
}

__all__ = [
    "Descriptor",
    "Evaluation",
    "GymnasiumTask",
    "Integration",
    "Physics",
    "Repertoire",
    "Task",
    "Transitions",
    "__version__",
    "environments",
    "export",
    "from_info",
    "load",
    "resume",
    "rollout",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module 'dcrl' has no attribute {name!r}")
    return getattr(import_module(LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})
