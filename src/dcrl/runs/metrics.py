"""A run's `metrics.csv` as arrays, and whether the run is complete."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from dcrl.types import Floats

# A run of the paper's budget has 4,000 rows of 300 characters.
SIZE_LIMIT = 64 * 2**20  # bytes
LINE_LIMIT = 2**16  # characters
NUMBER_LIMIT = 10_000_000  # rows times columns


def read_metrics(path: Path) -> dict[str, Floats]:
    """The columns of a `metrics.csv`; NaN where there is no number. A file beyond the limits is refused."""
    return read_columns(path)


def read_columns(path: Path) -> dict[str, Floats]:
    """The columns of a CSV file of numbers, read row by row: memory is that of the numbers."""
    numbers = array("d")
    try:
        size = path.stat().st_size
        if size > SIZE_LIMIT:
            raise ValueError(f"it has {size:,} bytes, expected at most {SIZE_LIMIT:,}")
        with open(path, newline="") as file:
            reader = csv.reader(_lines(file))
            names = next(reader, [])
            if len(set(names)) < len(names):
                raise ValueError("two of its columns have the same name")
            for row in filter(None, reader):
                numbers.extend(_number(text) for text in row[: len(names)])
                numbers.extend([float("nan")] * (len(names) - len(row)))
                if len(numbers) > NUMBER_LIMIT:
                    raise ValueError(f"it has more than {NUMBER_LIMIT:,} numbers")
    except (OSError, csv.Error, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if not numbers:
        return {}
    table = np.frombuffer(numbers, np.float64).reshape(-1, len(names))
    return {name: table[:, place].copy() for place, name in enumerate(names)}


def budget_used(evaluations: Floats, budget: int) -> bool:
    """Whether a run is complete: another generation like the last one would exceed its budget."""
    if not len(evaluations):
        return False
    step = evaluations[-1] - evaluations[-2] if len(evaluations) > 1 else np.inf if evaluations[-1] >= budget else 0
    return bool(evaluations[-1] + step > budget or evaluations[-1] >= budget)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(LINE_LIMIT):
        if len(line) == LINE_LIMIT:
            raise ValueError(f"it has a line of {LINE_LIMIT:,} characters or more")
        yield line


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
