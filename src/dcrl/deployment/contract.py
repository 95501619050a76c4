"""The contract of an exported file: everything a caller needs, as JSON next to the file."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

from dcrl.tasks.registry import AnyTask
from dcrl.tasks.task import Task
from dcrl.types import Descriptor

FORMAT = 1
WITH_UNIT = re.compile(r"(?P<name>.+) \((?P<unit>[^()]+)\)")  # torso z (m)
DIVIDED = re.compile(r"(?P<name>.+) / (?P<by>[0-9.]+) (?P<unit>\S+)")  # torso x / 30 m


def tensors(task: AnyTask, space: Descriptor, *, takes_descriptor: bool) -> dict[str, Any]:
    """The inputs and outputs, all float32; "batch" is an axis of any size."""
    observation = {"name": "observation", "dtype": "float32", "shape": ["batch", task.observation_size]}
    descriptor = {"name": "descriptor", "dtype": "float32", "shape": [space.size]}
    return {
        "inputs": [observation, descriptor] if takes_descriptor else [observation],
        "outputs": [{"name": "action", "dtype": "float32", "shape": ["batch", task.action_size]}],
    }


def robot(task: AnyTask) -> dict[str, Any]:
    """What the numbers mean: observations, actions, the control period, the horizon."""
    if isinstance(task, Task):
        centre, half = task.control_range
        observations, actions, period = task.observations, task.actions, task.integration.period
        computed_by = f"{task.observe.__module__}.{task.observe.__qualname__}"
    else:  # Gymnasium environments have no labels
        space = task.spaces[1]
        centre, half = ((space.high + space.low) / 2).reshape(-1), ((space.high - space.low) / 2).reshape(-1)
        observations = tuple(f"observation {i}" for i in range(task.observation_size))
        actions, period = tuple(f"action {i}" for i in range(task.action_size)), None
        computed_by = task.environment
    return {
        "observation": {
            "computed_by": computed_by,
            "scaling": "each value is in its unit, divided by divided_by; nothing else is normalised",
            "entries": [_observation(label) for label in observations],
        },
        "action": {
            "low": -1.0,
            "high": 1.0,
            "mapping": "control = (control_low + control_high) / 2 + action * (control_high - control_low) / 2",
            "entries": [
                {"name": name, "control_low": float(middle - width), "control_high": float(middle + width)}
                for name, middle, width in zip(actions, centre, half, strict=True)
            ],
        },
        "control_period_seconds": period,
        "episode_steps": task.horizon,
    }


def descriptor(space: Descriptor) -> dict[str, Any]:
    return {
        "names": list(space.names),
        "unit": space.unit,
        "low": list(space.low),
        "high": list(space.high),
        "over_the_episode": space.over,
        "outside_the_bounds": "not allowed; an ONNX graph takes the nearest descriptor within",
    }


def versions(*packages: str) -> dict[str, str]:
    return {name: version(name) for name in ("dcrl-map-elites", "numpy", *packages)}


def _observation(label: str) -> dict[str, Any]:
    """The name and unit of a label; the unit is None for numbers without one, or where the task has none."""
    if match := DIVIDED.fullmatch(label):
        return {"name": match["name"], "unit": match["unit"], "divided_by": float(match["by"])}
    if match := WITH_UNIT.fullmatch(label):
        return {"name": match["name"], "unit": match["unit"], "divided_by": 1.0}
    return {"name": label, "unit": None, "divided_by": 1.0}
