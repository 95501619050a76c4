"""A repertoire: what a run found, as arrays and as callable policies. Acting needs NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcrl.archive.archive import Archive
from dcrl.learners.conditioning import normalise
from dcrl.networks import Layers, specialise
from dcrl.runs.files import read_tensors, write_tensors
from dcrl.types import Bools, Descriptor, Floats

Policy = Callable[[ArrayLike], NDArray[np.float32]]

TENSORS = ("centroids", "occupied", "fitness", "descriptor", "genotype")


@dataclass(frozen=True, kw_only=True)
class Repertoire:
    """An archive with what is needed to use it, and the distilled actor where there is one."""

    task: str
    layers: Layers
    space: Descriptor
    centroids: Floats  # (C, D)
    occupied: Bools  # (C,)
    fitness: Floats  # (C,), NaN where empty
    descriptor: Floats  # (C, D), NaN where empty
    genotype: Floats  # (C, P), 0 where empty
    actor_parameters: Floats | None = None  # (Pa,)

    def policy(self, cell: int) -> Policy:
        """The elite of a cell."""
        if not self.occupied[cell]:
            raise ValueError(f"cell {cell} is empty")
        return _policy(self.layers, self.genotype[cell])

    def policy_for(self, descriptor: ArrayLike) -> Policy:
        """The elite whose descriptor is nearest."""
        return self.policy(self.cell_for(descriptor))

    def cell_for(self, descriptor: ArrayLike) -> int:
        """The cell of the elite whose descriptor is nearest."""
        wanted = self._checked(descriptor)
        if not self.occupied.any():
            raise ValueError("the repertoire is empty")
        distance = np.linalg.norm(self.descriptor - wanted, axis=1)
        return int(np.nanargmin(distance))

    def actor(self, descriptor: ArrayLike) -> Policy:
        """The distilled policy, specialised to a descriptor anywhere in the space."""
        if self.actor_parameters is None:
            raise ValueError("this repertoire has no descriptor-conditioned actor: its algorithm does not train one")
        condition = normalise(self.space, self._checked(descriptor))[None]
        return _policy(self.layers, specialise(self.actor_layers, self.actor_parameters, condition)[0])

    @property
    def actor_layers(self) -> Layers:
        """The actor's: the policies' with the descriptor as further inputs."""
        return Layers((self.layers.sizes[0] + self.space.size, *self.layers.sizes[1:]))

    def _checked(self, descriptor: ArrayLike) -> Floats:
        wanted = np.asarray(descriptor, np.float64)
        low, high = np.asarray(self.space.low), np.asarray(self.space.high)
        if wanted.shape != (self.space.size,) or not ((wanted >= low) & (wanted <= high)).all():
            raise ValueError(
                f"a descriptor of {self.task} is {self.space.size} numbers ({', '.join(self.space.names)}) "
                f"from {self.space.low} to {self.space.high}, got {np.asarray(descriptor).tolist()}"
            )
        return wanted


def _policy(layers: Layers, parameters: Floats) -> Policy:
    weights: list[tuple[Floats, Floats]] = layers.split(parameters)

    def policy(observation: ArrayLike) -> NDArray[np.float32]:
        hidden = np.asarray(observation, np.float32)
        if hidden.shape[-1:] != (layers.sizes[0],):
            raise ValueError(f"an observation has {layers.sizes[0]} numbers, got an array of shape {hidden.shape}")
        for kernel, bias in weights[:-1]:
            hidden = np.maximum(hidden @ kernel + bias, 0)
        kernel, bias = weights[-1]
        return np.tanh(hidden @ kernel + bias)

    return policy


def save_archive(path: Path, archive: Archive, metadata: dict[str, Any]) -> None:
    """`archive.safetensors`: an empty cell has fitness and descriptor NaN and genotype 0."""
    tensors = {
        "centroids": archive.centroids,
        "occupied": archive.occupied,
        "fitness": np.where(archive.occupied, archive.fitness, np.nan).astype(np.float32),
        "descriptor": archive.descriptor,
        "genotype": archive.genotype,
    }
    write_tensors(path, tensors, metadata)


def save_actor(path: Path, parameters: Floats, metadata: dict[str, Any]) -> None:
    write_tensors(path, {"parameters": np.asarray(parameters, np.float32)}, metadata)


def load(run_or_file: str | Path) -> Repertoire:
    """The repertoire of a run directory, or of an `archive.safetensors` (with its `actor.safetensors` beside it)."""
    path = Path(run_or_file)
    if path.is_dir():
        path = path / "archive.safetensors"
    if not path.is_file():
        raise ValueError(f"there is no repertoire at {run_or_file}; expected a run directory or an archive.safetensors")
    tensors, metadata = read_tensors(path, TENSORS)
    actor = None
    if (path.parent / "actor.safetensors").is_file():
        actor = read_tensors(path.parent / "actor.safetensors", ("parameters",))[0]["parameters"]
    try:
        space: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in metadata["descriptor"].items()}
        return Repertoire(
            task=metadata["task"],
            layers=Layers(tuple(metadata["layers"])),
            space=Descriptor(**space),
            actor_parameters=actor,
            **tensors,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} lacks metadata: {error}") from None
