"""Repertoires of QDax: the arrays that `MapElitesRepertoire.save` wrote, up to QDax 0.4.1.

`genotypes.npy` (C, P), `fitnesses.npy` (C,), -inf where a cell is empty, `descriptors.npy` (C, D) and `centroids.npy`
(C, D), each with the prefix that `save` was given. A genotype is a flax MLP as a vector: layer by layer the bias, then
the kernel.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from dcrl.networks.policies import Layers
from dcrl.repertoires.placing import placed
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats

ARRAYS = ("genotypes", "fitnesses", "descriptors", "centroids")


def is_qdax(path: Path) -> bool:
    """Whether a path is a folder in which QDax saved a repertoire, or the genotypes of one."""
    return path.name.endswith("genotypes.npy") or (path / "genotypes.npy").is_file()


def from_qdax(path: str | Path, like: Repertoire) -> Repertoire:
    """The elites that QDax saved, in their own cells, with the task, network and descriptor space of `like`.

    `path` is the folder, or the file `...genotypes.npy` if the names have a prefix. The policies must be MLPs with ReLU
    and a final tanh, of the layers of `like`.
    """
    genotypes, fitnesses, descriptors, centroids = (_read(file) for file in _files(Path(path)))
    cells, dimensions = len(centroids), like.space.size
    for name, array, shape in (
        ("genotypes", genotypes, (cells, like.layers.parameters)),
        ("fitnesses", fitnesses.reshape(len(fitnesses), -1), (cells, 1)),  # (C, 1) from QDax 0.5 on
        ("descriptors", descriptors, (cells, dimensions)),
        ("centroids", centroids, (cells, dimensions)),
    ):
        if array.shape != shape:
            layers = " - ".join(map(str, like.layers.sizes))
            raise ValueError(
                f"{path}: {name} must have the shape {shape} for {like.task} with layers {layers}, got {array.shape}"
            )
    fitness = fitnesses.reshape(cells)
    occupied = np.flatnonzero(fitness != -np.inf)
    found = descriptors[occupied]
    if like.space.clip:
        found = np.clip(found, like.space.low, like.space.high).astype(np.float32)
    genotype = reordered(genotypes[occupied], like.layers)
    made = placed(path, like, centroids, occupied, fitness[occupied], found, genotype)
    return replace(made, algorithm=None, seed=None, evaluations=None)


def reordered(genotypes: Floats, layers: Layers) -> Floats:
    """Vectors (B, P) with the bias of each layer first, as flax has them, as ours, with the kernel first."""
    parts, start = [], 0
    for fan_in, fan_out in pairwise(layers.sizes):
        middle, end = start + fan_out, start + (fan_in + 1) * fan_out
        parts += [genotypes[:, middle:end], genotypes[:, start:middle]]
        start = end
    return np.concatenate(parts, axis=1)


def _files(path: Path) -> list[Path]:
    prefix = "" if path.is_dir() else path.name.removesuffix("genotypes.npy")
    folder = path if path.is_dir() else path.parent
    files = [folder / f"{prefix}{name}.npy" for name in ARRAYS]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise ValueError(f"a repertoire that QDax saved has {len(ARRAYS)} files; {folder} lacks {', '.join(missing)}")
    return files


def _read(path: Path) -> Floats:
    try:
        with open(path, "rb") as file:
            found = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if found.dtype.kind != "f" or not found.ndim:
        raise ValueError(f"{path} must be an array of floating-point numbers, got {found.dtype} of shape {found.shape}")
    return found.astype(np.float32)
