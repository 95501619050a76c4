"""Repertoires written as safetensors files with metadata and a checksum: docs/repertoire-file.md."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.archive.archive import Archive
from dcrl.files import write_tensors
from dcrl.repertoires import checks
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats
from dcrl.version import __version__


def save(path: Path, repertoire: Repertoire) -> None:
    """Write a repertoire as a file that `load` reads, without its actor, which has a file of its own."""
    known = {name: getattr(repertoire, name) for name in ("algorithm", "seed", "evaluations")}
    metadata = {
        "task": repertoire.task,
        **{name: value for name, value in known.items() if value is not None},
        "layers": repertoire.layers.sizes,
        "activation": checks.ACTIVATION,
        "descriptor": asdict(repertoire.space),
        "version": __version__,
    }
    save_archive(path, repertoire.archive, metadata)


def save_archive(path: Path, archive: Archive, metadata: dict[str, Any], entered: Floats | None = None) -> None:
    """`archive.safetensors`: an empty cell has fitness and descriptor NaN and genotype 0.

    `entered` (C,) is the generation in which each elite was added, if that is known.
    """
    tensors = {
        "centroids": archive.centroids,
        "occupied": archive.occupied,
        "fitness": np.where(archive.occupied, archive.fitness, np.nan).astype(np.float32),
        "descriptor": archive.descriptor,
        "genotype": archive.genotype,
    }
    if entered is not None and len(entered):
        tensors["entered"] = entered
    write_tensors(path, tensors, metadata, own_checksum=True)


def save_actor(path: Path, parameters: Floats, metadata: dict[str, Any]) -> None:
    """`actor.safetensors`: the parameters of the descriptor-conditioned actor."""
    write_tensors(path, {"parameters": np.asarray(parameters, np.float32)}, metadata, own_checksum=True)
