"""A run's `metrics.csv` as arrays."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dcrl.types import Floats


def read_metrics(path: Path) -> dict[str, Floats]:
    """The columns of a `metrics.csv`."""
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        return {name: np.array([float(row[name]) for row in rows]) for name in (rows[0] if rows else ())}
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
