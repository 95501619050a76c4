"""Repertoires as CSV tables of elites, there and back."""

from __future__ import annotations

import csv
import io
import reprlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dcrl.files import write_text
from dcrl.repertoires.placing import placed
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.words import plural
from dcrl.types import Floats


def columns(repertoire: Repertoire) -> list[str]:
    """`cell`, `fitness`, the descriptor as `d0`, `d1`, ..., the genotype as `g0`, `g1`, ..."""
    descriptor = (f"d{i}" for i in range(repertoire.space.size))
    return ["cell", "fitness", *descriptor, *(f"g{i}" for i in range(repertoire.layers.parameters))]


def to_csv(path: Path, repertoire: Repertoire) -> None:
    """One row per elite. Numbers are written with all digits, so that they are read back bit for bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns(repertoire))
    for cell in np.flatnonzero(repertoire.occupied).tolist():
        numbers = repertoire.descriptor[cell].tolist() + repertoire.genotype[cell].tolist()
        writer.writerow([cell, float(repertoire.fitness[cell]), *numbers])
    write_text(path, text.getvalue())


def from_csv(path: Path, like: Repertoire) -> Repertoire:
    """The elites of a table, with the task, network and cells of the repertoire `like`."""
    cells: list[int] = []
    rows: list[Floats] = []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file, strict=True)
            expected = columns(like)
            found = next(reader, [])
            if found != expected:
                raise ValueError(
                    f"{path} must have the {len(expected)} columns {reprlib.repr(expected)} of {like.task}, "
                    f"got {len(found)}: {reprlib.repr(found)}"
                )
            for row in reader:
                where = f"{path}, line {reader.line_num}"
                cells.append(_cell(where, row, len(like.centroids)))
                rows.append(_numbers(where, row, len(expected)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    table = np.stack(rows) if rows else np.zeros((0, len(expected) - 1), np.float32)
    index = np.asarray(cells, np.int64)
    size = like.space.size
    return placed(path, like, like.centroids, index, table[:, 0], table[:, 1 : 1 + size], table[:, 1 + size :])


def _cell(where: str, row: list[str], cells: int) -> int:
    text = row[0] if row else ""
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) >= cells:
        raise ValueError(f"{where}: column 'cell' must be a whole number from 0 to {cells - 1}, got {text[:40]!r}")
    return int(text)


def _numbers(where: str, row: list[str], count: int) -> NDArray[np.float32]:
    if len(row) != count:
        raise ValueError(f"{where}: expected {plural(count, 'column')}, got {len(row)}")
    try:
        with np.errstate(over="ignore"):  # becomes infinite, which is refused below
            return np.array([float(text) for text in row[1:]]).astype(np.float32)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
