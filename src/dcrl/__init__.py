"""Repertoires of behaviours: quality-diversity with descriptor-conditioned reinforcement learning."""

from dcrl import opengl  # noqa: F401, first: it imports MuJoCo, which must not fail for want of OpenGL

# isort: split
from dcrl import environments  # registers dcrl/AntOmni-v0 and the others with Gymnasium
from dcrl.api import resume, train
from dcrl.deployment.export import export
from dcrl.rollout import rollout
from dcrl.runs.repertoire import Repertoire, load
from dcrl.tasks.gymnasium import GymnasiumTask, from_info
from dcrl.tasks.task import Integration, Task
from dcrl.types import Descriptor, Evaluation, Physics, Transitions
from dcrl.version import __version__

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
