"""The values by which a map can be coloured: all that is known per cell, from the archive and from re-evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcrl.files import read_tensors
from dcrl.repertoires.checks import TENSORS
from dcrl.repertoires.load import archive_file
from dcrl.repertoires.repertoire import Repertoire
from dcrl.runs.metrics import read_columns
from dcrl.types import Floats

LABELS = {"entered": "generation of entry"}  # of tensors in the archive's file; others are called by their names
RE_EVALUATED = {  # columns of `reproducibility/elites.csv`
    "fitness_mean": "mean fitness, re-evaluated",
    "fitness_deviation": "spread of fitness, re-evaluated",
    "valid": "samples, re-evaluated",
    "distance_to_centroid": "distance to the centroid, re-evaluated",
}
LONGEST_NAME = 60  # characters


@dataclass(frozen=True, kw_only=True)
class Value:
    """One number per cell; NaN where there is none."""

    key: str
    label: str
    values: Floats  # (C,)


def cell_values(run_or_file: Path, found: Repertoire) -> tuple[Value, ...]:
    """Fitness first, then whatever else is there; what cannot be read is left out."""
    fitness = Value(key="fitness", label="fitness", values=found.fitness)
    return fitness, *_from_file(archive_file(run_or_file), found), *_from_re_evaluation(run_or_file, found)


def re_evaluation_file(run_or_file: Path) -> Path:
    """Where `dcrl evaluate` writes its table of elites."""
    own = run_or_file.is_dir() or run_or_file.name == "archive.safetensors"
    folder = run_or_file if run_or_file.is_dir() else run_or_file.parent
    return folder / ("reproducibility" if own else f"{run_or_file.stem}-reproducibility") / "elites.csv"


def _from_file(path: Path, found: Repertoire) -> list[Value]:
    """The tensors of the file that hold one float per cell, besides those that every archive has."""
    tensors, _ = read_tensors(path, without="genotype")
    return [
        Value(key=name, label=LABELS.get(name, name.replace("_", " ")), values=np.asarray(tensor, np.float32))
        for name, tensor in tensors.items()
        if name not in TENSORS
        and len(name) <= LONGEST_NAME
        and tensor.shape == found.fitness.shape
        and np.issubdtype(tensor.dtype, np.floating)
        and np.isfinite(tensor[found.occupied]).any()
    ]


def _from_re_evaluation(run_or_file: Path, found: Repertoire) -> list[Value]:
    """Of the elites that were re-evaluated and are still in their cells."""
    path = re_evaluation_file(run_or_file)
    try:
        table = read_columns(path) if path.is_file() else {}
    except ValueError:
        return []
    if not {"cell", "stored_fitness", *RE_EVALUATED} <= table.keys():
        return []
    known = np.isin(table["cell"], np.flatnonzero(found.occupied))
    cell = table["cell"][known].astype(int)
    same = found.fitness[cell] == table["stored_fitness"][known].astype(np.float32)
    values = []
    for column, label in RE_EVALUATED.items():
        every = np.full(len(found.fitness), np.nan)
        every[cell[same]] = table[column][known][same]
        if np.isfinite(every).any():
            values.append(Value(key=f"re-evaluated {column}", label=label, values=every))
    return values
