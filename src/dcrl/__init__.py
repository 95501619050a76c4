"""Repertoires of behaviours: quality-diversity with descriptor-conditioned reinforcement learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dcrl.environments import registration
from dcrl.types import Descriptor, Evaluation, Physics, Transitions
from dcrl.version import __version__

if TYPE_CHECKING:
    from dcrl.algorithms.entry import AlgorithmEntry
    from dcrl.deployment.export import export
    from dcrl.environments.robot import RobotEnvironment
    from dcrl.repertoires.load import load
    from dcrl.repertoires.policy import Policy
    from dcrl.repertoires.repertoire import Repertoire
    from dcrl.runs.ask_tell import AskTell, ask_tell
    from dcrl.runs.training import resume, train
    from dcrl.simulators.rollouts import rollout
    from dcrl.tasks.gymnasium import GymnasiumTask, from_info
    from dcrl.tasks.task import Integration, Task

# Imported on first use: JAX and MuJoCo take seconds to import, and reading a repertoire needs neither
_LAZY = {
    "AlgorithmEntry": "dcrl.algorithms.entry",
    "AskTell": "dcrl.runs.ask_tell",
    "GymnasiumTask": "dcrl.tasks.gymnasium",
    "Integration": "dcrl.tasks.task",
    "Policy": "dcrl.repertoires.policy",
    "Repertoire": "dcrl.repertoires.repertoire",
    "RobotEnvironment": "dcrl.environments.robot",
    "Task": "dcrl.tasks.task",
    "ask_tell": "dcrl.runs.ask_tell",
    "export": "dcrl.deployment.export",
    "from_info": "dcrl.tasks.gymnasium",
    "load": "dcrl.repertoires.load",
    "resume": "dcrl.runs.training",
    "rollout": "dcrl.simulators.rollouts",
    "train": "dcrl.runs.training",
}

__all__ = [
    "AlgorithmEntry",
    "AskTell",
    "Descriptor",
    "Evaluation",
    "GymnasiumTask",
    "Integration",
    "Physics",
    "Policy",
    "Repertoire",
    "RobotEnvironment",
    "Task",
    "Transitions",
    "__version__",
    "ask_tell",
    "export",
    "from_info",
    "load",
    "resume",
    "rollout",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dcrl' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


registration.register()
