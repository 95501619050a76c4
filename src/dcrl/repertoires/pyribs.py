"""Archives of pyribs, as objects there and back, and as the tables that its data frames write."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.archive.archive import add, empty
from dcrl.repertoires.placing import placed
from dcrl.repertoires.repertoire import Repertoire

COLUMN = re.compile(r"(solution|measures)_(\d+)")


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
    return placed("the pyribs archive", like, centroids, elites["index"], *arrays)


def is_pyribs_table(path: Path) -> bool:
    """Whether a file is a table that `archive.data(return_type="pandas").to_csv` wrote."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return "objective" in header and "solution_0" in header


def from_pyribs_table(path: str | Path, like: Repertoire) -> Repertoire:
    """The elites of such a table in the cells of `like`, whose task and network they have; the best of each cell.

    A solution is a genotype in this package's layout: layer by layer the kernel, row by row, then the bias. A table
    does not contain the cells of its archive.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file, strict=True)
            numbers = np.array([[float(text) for text in row] for row in rows]).reshape(len(rows), len(header))
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValueError(f"cannot read {path} as a table of pyribs: {error}") from None
    found: dict[str, list[int]] = {"solution": [], "measures": []}
    for column, name in enumerate(header):
        if match := COLUMN.fullmatch(name):
            found[match[1]].append(column)
    sizes = {"solution": like.layers.parameters, "measures": like.space.size}
    for name, expected in sizes.items():
        if len(found[name]) != expected:
            raise ValueError(
                f"{path} must have {expected} columns {name}_0, {name}_1, ... for {like.task}, got {len(found[name])}"
            )
    with np.errstate(over="ignore"):  # becomes infinite, which is refused below
        table = numbers.astype(np.float32)
    if not np.isfinite(table[:, [header.index("objective"), *found["solution"], *found["measures"]]]).all():
        raise ValueError(f"{path} must have finite numbers that float32 can hold as solutions, objectives and measures")
    fitness, genotype, descriptor = (
        table[:, columns] for columns in (header.index("objective"), found["solution"], found["measures"])
    )
    low, high = np.asarray(like.space.low), np.asarray(like.space.high)
    if not ((descriptor >= low) & (descriptor <= high)).all():
        raise ValueError(
            f"{path}: measures must lie from {like.space.low} to {like.space.high}, as descriptors of {like.task} do"
        )
    archive, _ = add(empty(like.centroids, like.layers.parameters), genotype, fitness, descriptor)
    return replace(like.with_archive(archive), algorithm=None, seed=None, evaluations=None)


def _ribs() -> Any:
    try:
        import ribs.archives
    except ImportError:
        raise ValueError("pyribs archives need the package ribs: pip install 'ribs>=0.9'") from None
    return ribs.archives
