"""A repertoire: the elites of an archive as arrays and as policies, with what is needed to use them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dcrl.archive.archive import Archive
from dcrl.learners.conditioning import normalise
from dcrl.networks.policies import Layers, specialise
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.words import listed, plural
from dcrl.types import Bools, Descriptor, Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Repertoire:
    """An archive, its task, network and descriptor space, and the descriptor-conditioned actor if there is one."""

    task: str
    layers: Layers
    space: Descriptor
    centroids: Floats  # (C, D)
    occupied: Bools  # (C,)
    fitness: Floats  # (C,), NaN where empty
    descriptor: Floats  # (C, D), NaN where empty
    genotype: Floats  # (C, P), 0 where empty
    actor_parameters: Floats | None = None  # (Pa,)
    algorithm: str | None = None  # None where the file does not say
    seed: int | None = None
    evaluations: int | None = None

    def policy(self, cell: SupportsIndex) -> Policy:
        """The elite of a cell."""
        found = self._checked_cell(cell)
        return Policy(
            task=self.task,
            layers=self.layers,
            space=self.space,
            genotype=self.genotype[found],
            descriptor=self.descriptor[found],
            cell=found,
            fitness=float(self.fitness[found]),
        )

    def policy_for(self, descriptor: ArrayLike, minimum_fitness: float | None = None) -> Policy:
        """The elite whose descriptor is nearest, among those with at least `minimum_fitness`."""
        return self.policy(self.nearest(descriptor, 1, minimum_fitness)[0])

    def nearest(self, descriptor: ArrayLike, k: int, minimum_fitness: float | None = None) -> Ints:
        """(k,) the cells of the elites with the nearest descriptors, nearest first; fewer if there are fewer elites.

        Ties are broken by the lower cell.
        """
        wanted = self._checked_descriptor(descriptor)
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
        """The cells, in order, of the elites whose descriptors lie in a box, bounds included."""
        lower, upper = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if not lower.shape == upper.shape == (self.space.size,) or not (lower <= upper).all():
            raise ValueError(
                f"a box of descriptors of {self.task} is {plural(self.space.size, 'number')} low and as many high, "
                f"low <= high, got {lower.tolist()} and {upper.tolist()}"
            )
        inside = (self.descriptor >= lower) & (self.descriptor <= upper)
        return np.flatnonzero(self.occupied & inside.all(axis=1))

    def actor(self, descriptor: ArrayLike) -> Policy:
        """The descriptor-conditioned actor as a policy for one descriptor, anywhere in the space.

        Its parameters have the shape of an elite's: the descriptor is folded into the first bias.
        """
        if self.actor_parameters is None:
            raise ValueError("this repertoire has no descriptor-conditioned actor: its algorithm does not train one")
        target = self._checked_descriptor(descriptor)
        genotype = specialise(self.actor_layers, self.actor_parameters, normalise(self.space, target)[None])[0]
        return Policy(task=self.task, layers=self.layers, space=self.space, genotype=genotype, descriptor=target)

    @property
    def actor_layers(self) -> Layers:
        """The layers of the conditioned actor: its input is the observation, then the descriptor."""
        return Layers((self.layers.sizes[0] + self.space.size, *self.layers.sizes[1:]))

    @property
    def archive(self) -> Archive:
        """The elites as an archive, to which others can be added."""
        return Archive(
            centroids=self.centroids,
            fitness=np.where(self.occupied, self.fitness, -np.inf).astype(np.float32),
            descriptor=self.descriptor,
            genotype=self.genotype,
        )

    def with_archive(self, archive: Archive) -> Repertoire:
        """The same task, network and space with other elites. The actor belongs to one run and is left out."""
        return replace(
            self,
            centroids=archive.centroids,
            occupied=archive.occupied,
            fitness=np.where(archive.occupied, archive.fitness, np.nan).astype(np.float32),
            descriptor=archive.descriptor,
            genotype=archive.genotype,
            actor_parameters=None,
        )

    def __eq__(self, other: object) -> bool:
        """The same task, network, space and origin, and the same elites and actor to the last bit."""
        if not isinstance(other, Repertoire):
            return NotImplemented
        return all(_equal(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    def __repr__(self) -> str:
        elites = f"{plural(int(self.occupied.sum()), 'elite')} in {plural(len(self.occupied), 'cell')}"
        best = f", max fitness {np.nanmax(self.fitness):,.2f}" if self.occupied.any() else ""
        actor = ", with an actor" if self.actor_parameters is not None else ""
        return f"<Repertoire: {self.algorithm or 'elites'} on {self.task}, {elites}{best}{actor}>"

    def _checked_cell(self, cell: SupportsIndex) -> int:
        cells = len(self.occupied)
        whole = isinstance(cell, int | np.integer) and not isinstance(cell, bool)
        if not whole or not 0 <= int(cell) < cells:
            raise ValueError(f"a cell is a whole number from 0 to {cells - 1}, got {cell!r}")
        if not self.occupied[cell]:
            near = self.nearest(self.centroids[cell], 1)[0]
            raise ValueError(f"cell {cell} is empty; the nearest elite is in cell {near}")
        return int(cell)

    def _checked_descriptor(self, descriptor: ArrayLike) -> Floats:
        try:
            wanted = np.asarray(descriptor, np.float64)
        except (TypeError, ValueError):
            wanted = np.empty(0)
        low, high = np.asarray(self.space.low), np.asarray(self.space.high)
        if wanted.shape != (self.space.size,) or not ((wanted >= low) & (wanted <= high)).all():
            got = descriptor.tolist() if isinstance(descriptor, np.ndarray) else descriptor
            raise ValueError(
                f"a descriptor of {self.task} is {plural(self.space.size, 'number')} ({listed(self.space.names)}) "
                f"from {self.space.low} to {self.space.high}, got {got}"
            )
        return wanted


def _equal(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return type(one) is type(other) and one == other
