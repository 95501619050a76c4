"""Episodes as messages that the browser's player reads: poses of robots, pictures of Gymnasium environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcrl.explorer.pictures import pictured
from dcrl.explorer.wire import packed, short
from dcrl.rendering.geometry import Shape
from dcrl.rendering.joints import joint_series
from dcrl.rendering.motion import Motion, record, shapes
from dcrl.repertoires.policy import Policy
from dcrl.tasks import registry
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.task import Task
from dcrl.types import Descriptor, Floats

LIVE_FRAMES = 60.0  # a second of simulated time, at most


def message(
    policy: Policy, seed: int, *, pinned: bool = False, frames_per_second: float = LIVE_FRAMES
) -> dict[str, Any]:
    """One episode of a policy from the start state of a seed; a pinned one is the one compared with."""
    task = registry.get(policy.task)
    common = {
        "task": task.name,
        "kind": "pinned" if pinned else policy.kind,
        "title": policy.title,
        "reference_title": "stored" if policy.kind == "elite" else "requested",
        "reference": {"fitness": policy.fitness, "descriptor": [float(d) for d in policy.descriptor]},
        "names": policy.space.names,
        "seed": seed,
    }
    if isinstance(task, GymnasiumTask):
        return common | pictured(task, policy, seed)
    motion = record(task, policy.genotype, seed, hidden=policy.layers.sizes[1:-1])
    return common | _posed(task, motion, policy.space, frames_per_second)


def _posed(task: Task, motion: Motion, space: Descriptor, frames_per_second: float) -> dict[str, Any]:
    """One frame for every so many control steps, and always the last; shapes that do not move come once."""
    every = shapes(task)
    stride = max(1, int(1 / (frames_per_second * motion.period)))
    step = np.unique(np.append(np.arange(0, motion.steps + 1, stride), motion.steps))
    drawn = [i for i, shape in enumerate(every) if shape.visible]
    moving = [i for i in drawn if not every[i].static]
    earned = np.concatenate([[0.0], np.add.accumulate(motion.reward)])
    return {
        "period": motion.period,
        "fitness": motion.fitness if motion.valid else None,
        "descriptor": [float(d) for d in motion.descriptor] if motion.valid else None,
        "ending": _ending(motion),
        "feet": feet_names(motion, space.names),
        "shapes": [_shape(motion, every, i) for i in drawn],
        "step": packed(step, "<i4"),
        "position": packed(motion.position[step][:, moving], "<f4"),
        "rotation": packed(motion.rotation[step][:, moving], "<f4"),
        "path": packed(motion.path[step], "<f4"),
        "earned": packed(earned[step], "<f8"),
        "reached": packed(motion.descriptor_so_far[step], "<f4"),
        "contact": packed(motion.contact[step], "u1"),
        "series": [
            {"title": one.title, "unit": one.unit, "names": one.names, "values": packed(one.values[step], "<f4")}
            for one in joint_series(task, motion)
        ],
    }


def feet_names(motion: Motion, names: Sequence[str]) -> list[str]:
    """What the contact sensors are called: as in the descriptor where it counts just these, else as in the model."""
    steps = motion.step_descriptor
    if steps.shape == motion.contact.shape and np.array_equal(steps > 0, motion.contact):
        return [name.rpartition(", ")[2] for name in names]
    return [foot.removesuffix("_geom").replace("_", " ") for foot in _feet(motion)]


def _ending(motion: Motion) -> str:
    if not motion.valid:
        return "the simulation diverged"
    return "it fell" if motion.terminated else "the episode is over"


def _feet(motion: Motion) -> list[str]:
    """The geoms whose contacts are felt: sensors are called after them."""
    return [name.partition(" on ")[0] for name in motion.contact_names]


def _shape(motion: Motion, every: Sequence[Shape], geom: int) -> dict[str, Any]:
    shape, feet = every[geom], _feet(motion)
    about: dict[str, Any] = {
        "kind": shape.kind,
        "size": [float(size) for size in shape.size],
        "rgba": [round(float(part), 3) for part in shape.rgba],
        "contact": feet.index(shape.name) if shape.name in feet else None,
    }
    if shape.static:
        about |= {"position": _floats(motion.position[0, geom]), "rotation": _floats(motion.rotation[0, geom])}
    if shape.vertices is not None and shape.faces is not None:
        about |= {"vertices": short(shape.vertices.reshape(-1)), "faces": shape.faces.reshape(-1).tolist()}
    return about


def _floats(values: Floats) -> list[float]:
    return [float(value) for value in values]
