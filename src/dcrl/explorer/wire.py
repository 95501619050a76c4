"""Archives and motions as the JSON text that the browser's scripts read."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Bools, Floats

if TYPE_CHECKING:
    from dcrl.rendering.geometry import Shape
    from dcrl.rendering.motion import Motion

LIVE_FRAMES = 60.0  # a second of simulated time, at most
DIGITS = 7  # what float32 has: a map may reach from 1000 to 1001


def archive_text(repertoire: Repertoire, recorded: Sequence[int] | None = None) -> str:
    """The map. `recorded` names the cells that can be played, where these are not all."""
    space, occupied = repertoire.space, repertoire.occupied
    return dump(
        {
            "names": space.names,
            "unit": space.unit,
            "low": space.low,
            "high": space.high,
            "values": [_value("fitness", "fitness", repertoire.fitness, occupied)],
            "fitness": [float(f) if o else None for f, o in zip(repertoire.fitness, occupied, strict=True)],
            "descriptor": [_short(d) if o else None for d, o in zip(repertoire.descriptor, occupied, strict=True)],
            "centroid": [_short(centroid) for centroid in repertoire.centroids],
            "recorded": None if recorded is None else list(recorded),
        }
    )


def _value(key: str, label: str, values: Floats, occupied: Bools) -> dict[str, Any]:
    """What cells can be coloured by: one number per cell, None where there is none."""
    known = occupied & np.isfinite(values)
    found = values[known]
    return {
        "key": key,
        "label": label,
        "values": [float(value) if there else None for value, there in zip(values, known, strict=True)],
        "range": [float(found.min()), float(found.max())] if len(found) else [0.0, 1.0],
    }


def motion_message(
    repertoire: Repertoire,
    policy: Policy,
    motion: Motion,
    shapes: Sequence[Shape],
    seed: int,
    frames_per_second: float = LIVE_FRAMES,
) -> dict[str, Any]:
    """One motion: every so many control steps a frame, and always the last; shapes that do not move come once."""
    stride = max(1, int(1 / (frames_per_second * motion.period)))
    step = np.unique(np.append(np.arange(0, motion.steps + 1, stride), motion.steps))
    drawn = [i for i, shape in enumerate(shapes) if shape.visible]
    moving = [i for i in drawn if not shapes[i].static]
    earned = np.concatenate([[0.0], np.add.accumulate(motion.reward)])
    return {
        "task": motion.task,
        "kind": policy.kind,
        "title": policy.title,
        "reference_title": "stored" if policy.kind == "elite" else "requested",
        "reference": {"fitness": policy.fitness, "descriptor": [float(d) for d in policy.descriptor]},
        "names": repertoire.space.names,
        "seed": seed,
        "period": motion.period,
        "fitness": motion.fitness if motion.valid else None,
        "descriptor": [float(d) for d in motion.descriptor] if motion.valid else None,
        "ending": _ending(motion),
        "feet": [foot.removesuffix("_geom").replace("_", " ") for foot in _feet(motion)],
        "shapes": [_shape(motion, shapes[i], i) for i in drawn],
        "step": _packed(step, "<i4"),
        "position": _packed(motion.position[step][:, moving], "<f4"),
        "rotation": _packed(motion.rotation[step][:, moving], "<f4"),
        "path": _packed(motion.path[step], "<f4"),
        "earned": _packed(earned[step], "<f8"),
        "reached": _packed(motion.descriptor_so_far[step], "<f4"),
        "contact": _packed(motion.contact[step], "u1"),
    }


def dump(content: Any) -> str:
    """JSON that can stand in a page: no text in it can end a script element."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _ending(motion: Motion) -> str:
    if not motion.valid:
        return "the simulation diverged"
    return "it fell" if motion.terminated else "the episode is over"


def _feet(motion: Motion) -> list[str]:
    """The geoms whose contacts are felt: sensors are called after them."""
    return [name.partition(" on ")[0] for name in motion.contact_names]


def _shape(motion: Motion, shape: Shape, geom: int) -> dict[str, Any]:
    feet = _feet(motion)
    about: dict[str, Any] = {
        "kind": shape.kind,
        "size": [float(size) for size in shape.size],
        "rgba": [round(float(part), 3) for part in shape.rgba],
        "contact": feet.index(shape.name) if shape.name in feet else None,
    }
    if shape.static:
        about |= {"position": _floats(motion.position[0, geom]), "rotation": _floats(motion.rotation[0, geom])}
    if shape.vertices is not None and shape.faces is not None:
        about |= {"vertices": _short(shape.vertices.reshape(-1)), "faces": shape.faces.reshape(-1).tolist()}
    return about


def _packed(values: ArrayLike, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, np.dtype(kind)).tobytes()).decode()


def _floats(values: Floats) -> list[float]:
    return [float(value) for value in values]


def _short(values: ArrayLike) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, np.float64)]
