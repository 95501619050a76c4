"""A repertoire: what a run found, as arrays and as callable policies. Acting needs NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcrl.archive.archive import Archive
from dcrl.files import read_tensors, write_tensors
from dcrl.learners.conditioning import normalise
from dcrl.networks.policies import Layers, specialise
from dcrl.repertoires import checks as checked
from dcrl.types import Bools, Descriptor, Floats, Ints
from dcrl.version import __version__

Policy = Callable[[ArrayLike], NDArray[np.float32]]


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
    algorithm: str | None = None  # what found it, where that is known
    seed: int | None = None
    evaluations: int | None = None

    def policy(self, cell: int) -> Policy:
        """The elite of a cell."""
        if not self.occupied[cell]:
            raise ValueError(f"cell {cell} is empty")
        return _policy(self.layers, self.genotype[cell])

    def policy_for(self, descriptor: ArrayLike, minimum_fitness: float | None = None) -> Policy:
        """The elite whose descriptor is nearest, of those with at least a minimum fitness."""
        return self.policy(int(self.nearest(descriptor, 1, minimum_fitness)[0]))

    def nearest(self, descriptor: ArrayLike, k: int, minimum_fitness: float | None = None) -> Ints:
        """(k,) the cells of the elites whose descriptors are nearest, from the nearest on; all if there are fewer.

        Of equally near ones the lowest cell comes first.
        """
        wanted = self._checked(descriptor)
        if k < 1:
            raise ValueError(f"the number of elites must be at least 1, got {k}")
        cells = np.flatnonzero(self.occupied)
        if not len(cells):
            raise ValueError("the repertoire is empty")
        if minimum_fitness is not None:
            cells = cells[self.fitness[cells] >= minimum_fitness]
            if not len(cells):
                best = self.fitness[self.occupied].max()
                raise ValueError(f"no elite has a fitness of at least {minimum_fitness}; the best has {best}")
        distance = np.linalg.norm(self.descriptor[cells] - wanted, axis=1)
        return cells[np.argsort(distance, kind="stable")[:k]]

    def within(self, low: ArrayLike, high: ArrayLike) -> Ints:
        """The cells, in order, of the elites whose descriptors lie in a box, its sides included."""
        lower, upper = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if not lower.shape == upper.shape == (self.space.size,) or not (lower <= upper).all():
            raise ValueError(
                f"a box in the descriptors of {self.task} is {self.space.size} numbers low and as many high, "
                f"low <= high, got {lower.tolist()} and {upper.tolist()}"
            )
        inside = (self.descriptor >= lower) & (self.descriptor <= upper)
        return np.flatnonzero(self.occupied & inside.all(axis=1))

    @property
    def archive(self) -> Archive:
        """The elites as an archive, to which others can be added."""
        return Archive(
            centroids=self.centroids,
            fitness=np.where(self.occupied, self.fitness, -np.inf).astype(np.float32),
            descriptor=self.descriptor,
            genotype=self.genotype,
        )

    def actor(self, descriptor: ArrayLike) -> Policy:
        """The distilled policy, specialised to a descriptor anywhere in the space."""
        return _policy(self.layers, self.actor_genotype(descriptor))

    def actor_genotype(self, descriptor: ArrayLike) -> Floats:
        """(P,) the parameters of that specialised policy, of the shape of every elite's."""
        if self.actor_parameters is None:
            raise ValueError("this repertoire has no descriptor-conditioned actor: its algorithm does not train one")
        condition = normalise(self.space, self._checked(descriptor))[None]
        genotype: Floats = specialise(self.actor_layers, self.actor_parameters, condition)[0]
        return genotype

    @property
    def actor_layers(self) -> Layers:
        """The shape of the conditioned actor: it sees the observation, then the descriptor."""
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
    write_tensors(path, tensors, metadata, own_checksum=True)


def save_actor(path: Path, parameters: Floats, metadata: dict[str, Any]) -> None:
    write_tensors(path, {"parameters": np.asarray(parameters, np.float32)}, metadata, own_checksum=True)


def save(path: Path, repertoire: Repertoire) -> None:
    """Write a repertoire as a file that `load` reads; its actor, which has a file of its own, is left out."""
    known = {name: getattr(repertoire, name) for name in ("algorithm", "seed", "evaluations")}
    metadata = {
        "task": repertoire.task,
        **{name: value for name, value in known.items() if value is not None},
        "layers": repertoire.layers.sizes,
        "activation": checked.ACTIVATION,
        "descriptor": asdict(repertoire.space),
        "version": __version__,
    }
    save_archive(path, repertoire.archive, metadata)


def load(run_or_file: str | Path) -> Repertoire:
    """The repertoire of a run directory, or of a file; `actor.safetensors` belongs to the `archive.safetensors` beside.

    A file that is damaged or that holds anything unexpected is refused with a ValueError that names what is wrong.
    """
    path = _file(run_or_file)
    tensors, metadata = read_tensors(path, checked.TENSORS)
    about = checked.about(path, metadata)
    checked.archive(path, tensors, about.layers, about.space)
    return _repertoire(path, about, tensors)


def outline(run_or_file: str | Path) -> Repertoire:
    """A repertoire whose policies were left in the file, so that even a large one is read at once.

    Its `genotype` has no columns, and the file's checksum, which is of all of it, was not looked at.
    """
    path = _file(run_or_file)
    tensors, metadata = read_tensors(path, checked.TENSORS, without="genotype")
    about = checked.about(path, metadata)
    checked.outline(path, tensors, about.space)
    none = np.zeros((len(tensors["occupied"]), 0), np.float32)
    return _repertoire(path, about, tensors | {"genotype": none})


def _file(run_or_file: str | Path) -> Path:
    path = Path(run_or_file)
    if path.is_dir():
        path = path / "archive.safetensors"
    if not path.is_file():
        raise ValueError(f"there is no repertoire at {run_or_file}; expected a run directory or an archive.safetensors")
    return path


def _repertoire(path: Path, about: checked.About, tensors: Mapping[str, NDArray[Any]]) -> Repertoire:
    repertoire = Repertoire(
        task=about.task,
        layers=about.layers,
        space=about.space,
        algorithm=about.algorithm,
        seed=about.seed,
        evaluations=about.evaluations,
        **{name: tensors[name] for name in checked.TENSORS},
    )
    beside = path.with_name("actor.safetensors")
    if path.name != "archive.safetensors" or not beside.is_file():
        return repertoire
    return replace(repertoire, actor_parameters=_read_actor(beside, repertoire))


def _read_actor(path: Path, repertoire: Repertoire) -> Floats:
    tensors, metadata = read_tensors(path, ("parameters",))
    parameters: Floats = tensors["parameters"]
    checked.actor(path, parameters, metadata, repertoire.actor_layers, repertoire.task)
    return parameters
