"""Repertoires to and from other formats: CSV tables of elites, and pyribs archives."""

from __future__ import annotations

import csv
import io
import reprlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcrl.files import write_text
from dcrl.repertoires import checks
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats, Ints


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
    return _placed(path, like, like.centroids, index, table[:, 0], table[:, 1 : 1 + size], table[:, 1 + size :])


def to_pyribs(repertoire: Repertoire) -> Any:
    """A `ribs.archives.CVTArchive` with the same cells and elites.

    Its measures are doubles, so that pyribs finds the same cells.
    """
    archive = _ribs().CVTArchive(
        solution_dim=repertoire.layers.parameters,
        centroids=repertoire.centroids,
        ranges=list(zip(repertoire.space.low, repertoire.space.high, strict=True)),
        solution_dtype=np.float32,
        objective_dtype=np.float32,
        measures_dtype=np.float64,
    )
    cells = np.flatnonzero(repertoire.occupied)
    if len(cells):
        archive.add(repertoire.genotype[cells], repertoire.fitness[cells], repertoire.descriptor[cells])
    return archive


def from_pyribs(archive: Any, like: Repertoire) -> Repertoire:
    """The elites of a CVTArchive in its own cells, with the task, network and space of the repertoire `like`."""
    if not isinstance(archive, _ribs().CVTArchive):
        raise ValueError(f"expected a ribs.archives.CVTArchive, got a {type(archive).__name__}")
    bounds = [tuple(map(float, bound)) for bound in (archive.lower_bounds, archive.upper_bounds)]
    if bounds != [like.space.low, like.space.high]:
        raise ValueError(
            f"the archive's measures go from {bounds[0]} to {bounds[1]}, "
            f"the descriptor of {like.task} from {like.space.low} to {like.space.high}"
        )
    elites = archive.data()
    found = elites["solution"].shape[1:]
    if found != (like.layers.parameters,):
        raise ValueError(
            f"a policy of {like.task} has {like.layers.parameters} parameters, the archive's solutions have {found}"
        )
    centroids = np.asarray(archive.centroids, np.float32)
    arrays = (np.asarray(elites[name], np.float32) for name in ("objective", "measures", "solution"))
    return _placed("the pyribs archive", like, centroids, elites["index"], *arrays)


def _ribs() -> Any:
    try:
        import ribs.archives
    except ImportError:
        raise ValueError("pyribs archives need the package ribs: pip install 'ribs>=0.9'") from None
    return ribs.archives


def _cell(where: str, row: list[str], cells: int) -> int:
    text = row[0] if row else ""
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) >= cells:
        raise ValueError(f"{where}: column 'cell' must be a whole number from 0 to {cells - 1}, got {text[:40]!r}")
    return int(text)


def _numbers(where: str, row: list[str], count: int) -> NDArray[np.float32]:
    if len(row) != count:
        raise ValueError(f"{where}: expected {count} columns, got {len(row)}")
    try:
        with np.errstate(over="ignore"):  # becomes infinite, which is refused below
            return np.array([float(text) for text in row[1:]]).astype(np.float32)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _placed(
    where: object,
    like: Repertoire,
    centroids: Floats,
    cells: Ints,
    fitness: Floats,
    descriptor: Floats,
    genotype: Floats,
) -> Repertoire:
    """Elites in their cells, checked like those of a file."""
    different, times = np.unique(cells, return_counts=True)
    if (times > 1).any():
        raise ValueError(f"{where} has more than one elite for cell {different[times > 1][0]}")
    count, space, layers = len(centroids), like.space, like.layers
    made = replace(
        like,
        centroids=centroids,
        occupied=np.zeros(count, bool),
        fitness=np.full(count, np.nan, np.float32),
        descriptor=np.full((count, space.size), np.nan, np.float32),
        genotype=np.zeros((count, layers.parameters), np.float32),
        actor_parameters=None,
    )
    made.occupied[cells] = True
    made.fitness[cells], made.descriptor[cells], made.genotype[cells] = fitness, descriptor, genotype
    checks.archive(where, {name: getattr(made, name) for name in checks.TENSORS}, layers, space)
    return made
