"""Repertoires read from run directories and files. Nothing in a file is trusted: `checks` refuses what does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcrl.files import read_tensors
from dcrl.repertoires import checks
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats


def load(run_or_file: str | Path) -> Repertoire:
    """The repertoire of a run directory or of a file, with the actor in `actor.safetensors` next to it.

    A file that is damaged or does not match the format raises a ValueError that says what is wrong.
    """
    path = archive_file(run_or_file)
    tensors, metadata = read_tensors(path, checks.TENSORS)
    about = checks.about(path, metadata)
    checks.archive(path, tensors, about.layers, about.space)
    return _repertoire(path, about, tensors)


def outline(run_or_file: str | Path) -> Repertoire:
    """A repertoire without its policies, which is quick to read even from a large file.

    Its `genotype` has no columns. The checksum, which covers the whole file, is not verified.
    """
    path = archive_file(run_or_file)
    tensors, metadata = read_tensors(path, checks.TENSORS, without="genotype")
    about = checks.about(path, metadata)
    checks.outline(path, tensors, about.space)
    none = np.zeros((len(tensors["occupied"]), 0), np.float32)
    return _repertoire(path, about, tensors | {"genotype": none})


def archive_file(run_or_file: str | Path) -> Path:
    """The file of a run directory's archive, or the file itself."""
    path = Path(run_or_file)
    if path.is_dir():
        path = path / "archive.safetensors"
    if not path.is_file():
        raise ValueError(f"there is no repertoire at {run_or_file}; expected a run directory or an archive.safetensors")
    return path


def _repertoire(path: Path, about: checks.About, tensors: Mapping[str, NDArray[Any]]) -> Repertoire:
    repertoire = Repertoire(
        task=about.task,
        layers=about.layers,
        space=about.space,
        algorithm=about.algorithm,
        seed=about.seed,
        evaluations=about.evaluations,
        **{name: tensors[name] for name in checks.TENSORS},
    )
    actor = path.with_name("actor.safetensors")
    if path.name != "archive.safetensors" or not actor.is_file():
        return repertoire
    return replace(repertoire, actor_parameters=_read_actor(actor, repertoire))


def _read_actor(path: Path, repertoire: Repertoire) -> Floats:
    tensors, metadata = read_tensors(path, ("parameters",))
    parameters: Floats = tensors["parameters"]
    checks.actor(path, parameters, metadata, repertoire.actor_layers, repertoire.task)
    return parameters
