"""Archives as the JSON text that the browser's scripts read."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dcrl.explorer.values import Value
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Bools

DIGITS = 7  # what float32 has: a map may reach from 1000 to 1001


def archive_text(repertoire: Repertoire, values: Sequence[Value], recorded: Sequence[int] | None = None) -> str:
    """The map. `recorded` names the cells that can be played, where these are not all."""
    space, occupied = repertoire.space, repertoire.occupied
    return dump(
        {
            "names": space.names,
            "unit": space.unit,
            "low": space.low,
            "high": space.high,
            "values": [_value(value, occupied) for value in values],
            "fitness": [float(f) if o else None for f, o in zip(repertoire.fitness, occupied, strict=True)],
            "descriptor": [short(d) if o else None for d, o in zip(repertoire.descriptor, occupied, strict=True)],
            "centroid": [short(centroid) for centroid in repertoire.centroids],
            "recorded": None if recorded is None else list(recorded),
        }
    )


def dump(content: Any) -> str:
    """JSON that can stand in a page: no text in it can end a script element."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def packed(values: ArrayLike, kind: str) -> str:
    """An array's bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(values, np.dtype(kind)).tobytes()).decode()


def short(values: ArrayLike) -> list[float]:
    """Numbers with as many digits as float32 has."""
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, np.float64)]


def _value(value: Value, occupied: Bools) -> dict[str, Any]:
    """What cells can be coloured by: None where there is no number."""
    known = occupied & np.isfinite(value.values)
    found = value.values[known]
    return {
        "key": value.key,
        "label": value.label,
        "values": [float(number) if there else None for number, there in zip(value.values, known, strict=True)],
        "whole": value.key != "fitness" and bool((found == np.round(found)).all()),
        "range": [float(found.min()), float(found.max())] if len(found) else [0.0, 1.0],
    }
