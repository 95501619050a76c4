"""A run's `metrics.csv` as arrays, and what it says about completeness."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dcrl.types import Floats


def read_metrics(path: Path) -> dict[str, Floats]:
    """The columns of a `metrics.csv`; NaN where there is no number."""
    try:
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            names, rows = reader.fieldnames or (), list(reader)
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return {name: np.array([_number(row[name]) for row in rows]) for name in names} if rows else {}


def budget_used(evaluations: Floats, budget: int) -> bool:
    """Whether a run is complete: another generation like the last one would exceed its budget."""
    if not len(evaluations):
        return False
    step = evaluations[-1] - evaluations[-2] if len(evaluations) > 1 else np.inf if evaluations[-1] >= budget else 0
    return bool(evaluations[-1] + step > budget or evaluations[-1] >= budget)


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")
