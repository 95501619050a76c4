"""A policy of a repertoire: a function from observations to actions that needs NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcrl.networks.policies import Layers, act
from dcrl.repertoires.words import plural
from dcrl.tasks.catalogue import BUILT_IN
from dcrl.types import Descriptor, Floats


@dataclass(frozen=True, kw_only=True)
class Specification:
    """The inputs and outputs of a policy. Labels and control ranges are those of a built-in task, otherwise None."""

    observation_size: int
    action_size: int
    action_low: float = -1.0
    action_high: float = 1.0
    observation_labels: tuple[str, ...] | None = None
    action_labels: tuple[str, ...] | None = None
    control_low: tuple[float, ...] | None = None  # the actuators' range, which [-1, 1] is mapped to
    control_high: tuple[float, ...] | None = None
    space: Descriptor
    descriptor: tuple[float, ...]  # in the units of `space`


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Policy:
    """An elite, or the actor conditioned on a descriptor: observations (..., O) to actions (..., A) in [-1, 1].

    It does not refer to its repertoire, and it can be pickled, for example for a worker process.
    """

    task: str
    layers: Layers
    space: Descriptor
    genotype: Floats  # (P,), read-only
    descriptor: Floats  # (D,): the elite's as stored, or the one that the actor is conditioned on
    cell: int | None = None  # of an elite
    fitness: float | None = None  # of an elite, as stored

    def __post_init__(self) -> None:
        for name in ("genotype", "descriptor"):
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __call__(self, observation: ArrayLike) -> NDArray[np.float32]:
        values = np.asarray(observation, np.float32)
        size = self.layers.sizes[0]
        if values.shape[-1:] != (size,):
            raise ValueError(
                f"an observation of {self.task} has {plural(size, 'number')}, got an array of shape {values.shape}"
            )
        actions: NDArray[np.float32] = act(self.layers.split(self.genotype), np.atleast_2d(values))
        return actions.reshape(*values.shape[:-1], self.layers.sizes[-1])

    @property
    def kind(self) -> Literal["elite", "actor"]:
        """Whether it is an elite of the archive or the descriptor-conditioned actor."""
        return "actor" if self.cell is None else "elite"

    @property
    def title(self) -> str:
        """A few words that name it, for figures and files."""
        if self.cell is not None:
            return f"elite of cell {self.cell}"
        return f"actor conditioned on {', '.join(f'{value:.3g}' for value in self.descriptor)}"

    @property
    def specification(self) -> Specification:
        """Sizes, labels and ranges. Those of a built-in task are looked up, which imports JAX and MuJoCo."""
        sizes = Specification(
            observation_size=self.layers.sizes[0],
            action_size=self.layers.sizes[-1],
            space=self.space,
            descriptor=tuple(self.descriptor.tolist()),
        )
        return _with_labels(sizes, self.task) if self.task in BUILT_IN else sizes

    def __eq__(self, other: object) -> bool:
        """The same parameters for the same task, from the same place in the repertoire."""
        return isinstance(other, Policy) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        arrays = self.genotype.tobytes(), tuple(self.descriptor.tolist())
        return self.task, self.layers, self.space, self.cell, self.fitness, *arrays

    def __str__(self) -> str:
        """Which policy it is; for an elite also its stored descriptor and fitness."""
        if self.fitness is None:
            return f"{self.title} of {self.task}"
        descriptor = ", ".join(f"{value:.3g}" for value in self.descriptor)
        return f"{self.title} of {self.task}, descriptor ({descriptor}), fitness {self.fitness:,.2f}"

    def __repr__(self) -> str:
        return f"<Policy: {self}, layers {' - '.join(map(str, self.layers.sizes))}>"


def _with_labels(sizes: Specification, name: str) -> Specification:
    from dcrl.tasks import registry  # here: it imports JAX and MuJoCo, which acting does without

    task = registry.BUILT_IN[name]
    if (task.observation_size, task.action_size) != (sizes.observation_size, sizes.action_size):
        return sizes
    centre, half = task.control_range
    return replace(
        sizes,
        observation_labels=tuple(task.observations),
        action_labels=tuple(task.actions),
        control_low=tuple((centre - half).tolist()),
        control_high=tuple((centre + half).tolist()),
    )
