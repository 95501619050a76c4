"""What a task is, as JSON, so that a resumed run can check that its task has not changed."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dcrl.tasks.registry import AnyTask
from dcrl.tasks.task import Task

FUNCTIONS = ("start", "observe", "reward", "terminated", "step_descriptor")
# the robot's bodies, joints, shapes, motors and sensors
MODEL = ("qpos0", "body_mass", "body_inertia", "body_pos", "jnt_range", "dof_damping", "geom_size", "geom_pos")
# joints of the walker and the half-cheetah whose labels were renamed
EARLIER_JOINTS = {
    **{f"right_{part}": part for part in ("thigh", "leg", "foot")},
    **{f"left_{part}": f"{part}_left" for part in ("thigh", "leg", "foot")},
    **{f"back_{part}": f"b{part}" for part in ("thigh", "shin", "foot")},
    **{f"front_{part}": f"f{part}" for part in ("thigh", "shin", "foot")},
}
# labels that were renamed, and the label that checkpoints and evaluations of earlier versions hold
EARLIER_LABELS = {"torso z minus 0.7 m (m)": "torso z (m)"} | {
    f"{joint}{what}": f"{earlier}{what}"
    for joint, earlier in EARLIER_JOINTS.items()
    for what in ("", " angle (rad)", " velocity (rad/s)")
}


def fingerprint(task: AnyTask) -> dict[str, Any]:
    """Sizes, bounds and names as they are; functions and the model by checksum."""
    common = {"name": task.name, "horizon": task.horizon, "descriptor": asdict(task.descriptor)}
    functions = {name: _source(getattr(task, name)) for name in FUNCTIONS if hasattr(task, name)}
    if isinstance(task, Task):
        numbers = hashlib.sha256()
        for name in (*MODEL, "actuator_gear", "actuator_ctrlrange", "sensor_objid"):
            numbers.update(getattr(task.model, name).tobytes())
        own: dict[str, Any] = {
            "observations": tuple(EARLIER_LABELS.get(label, label) for label in task.observations),
            "actions": tuple(EARLIER_LABELS.get(label, label) for label in task.actions),
            "integration": asdict(task.integration),
            "model": numbers.hexdigest()[:16],
        }
    else:
        own = {"environment": task.environment, "options": {name: repr(v) for name, v in task.options.items()}}
    return common | own | functions


def _source(function: Callable[..., Any]) -> str | None:
    """A function's text as a checksum; None where Python has no source."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(text.encode()).hexdigest()[:16]
