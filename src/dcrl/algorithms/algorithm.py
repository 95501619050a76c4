"""The contract of an algorithm, and what it is applied to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dcrl.algorithms.asked import Asked
from dcrl.algorithms.state import Report, State
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive
from dcrl.archive.centroids import centroids
from dcrl.hyperparameters import at_least
from dcrl.learners.td3 import TD3, TD3Config
from dcrl.networks.policies import Layers
from dcrl.simulators.rollouts import evaluate
from dcrl.simulators.simulator import Simulator
from dcrl.types import Array, Descriptor, Evaluation

Stage: TypeAlias = Callable[[str], None]


def unstaged(name: str) -> None:
    """For callers that do not follow the stages."""


@dataclass(frozen=True, kw_only=True)
class ArchiveConfig:
    """The archive's tessellation; the defaults are the paper's."""

    cells: int = 1024
    """Cells (centroids) of the archive."""
    cvt_samples: int = 50_000
    """Number of uniform samples from which the centroids are computed."""

    def __post_init__(self) -> None:
        at_least(self, 1, "cells", "cvt_samples")
        if self.cvt_samples < self.cells:
            raise ValueError(f"cvt_samples must be at least cells, got {self.cvt_samples} and {self.cells}")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What an algorithm is applied to: the simulator, the policies' layers and the descriptor space."""

    simulator: Simulator
    layers: Layers
    descriptor: Descriptor
    descriptor_from_observation: Callable[[Array], Array] | None = None  # where observations contain the descriptor
    horizon: int | None = None  # the most control steps of an episode, for algorithms that keep whole ones

    def learner(self, config: TD3Config, *, conditioned: bool = False) -> TD3:
        """An actor-critic for this setting, conditioned on descriptors or not."""
        return TD3(
            observation_size=self.layers.sizes[0],
            action_size=self.layers.sizes[-1],
            descriptor_size=self.descriptor.size if conditioned else 0,
            actor_hidden=self.layers.sizes[1:-1],
            config=config,
        )

    def empty_archive(self, config: ArchiveConfig, seed: int) -> Archive:
        """An archive without elites; its centroids depend on the descriptor space, `config` and the seed alone."""
        cells = centroids(self.descriptor, config.cells, config.cvt_samples, seed)
        return archives.empty(cells, self.layers.parameters)

    def evaluate(self, asked: Asked) -> Evaluation:
        """One episode of each policy that an algorithm asks for."""
        return evaluate(self.simulator, self.descriptor, asked.genotype, asked.starts, self.layers, record=asked.record)


class Algorithm(Protocol):
    """An algorithm applied to a setting, ready to run."""

    @property
    def setting(self) -> Setting: ...
    @property
    def archive_config(self) -> ArchiveConfig: ...
    @property
    def learners(self) -> tuple[TD3, ...]: ...
    @property
    def operator_names(self) -> tuple[str, ...]: ...
    @property
    def targeted_names(self) -> tuple[str, ...]:
        """The operators whose offspring are given a target descriptor that a learner is conditioned on."""
        ...

    @property
    def initial_evaluations(self) -> int: ...
    @property
    def generation_evaluations(self) -> int: ...
    @property
    def plan(self) -> str:
        """The evaluations of one generation, in words."""
        ...

    def empty_state(self, seed: int) -> State:
        """The state before the first evaluation."""
        ...

    def ask(self, state: State, seed: int, stage: Stage = unstaged) -> Asked:
        """The policies to evaluate next: random ones if `state` is empty, else those of the next generation.

        `stage` is called with each stage's name before it begins. If it raises, `state` is unchanged.
        """
        ...

    def tell(self, asked: Asked, evaluations: Sequence[Evaluation]) -> tuple[State, Report | None]:
        """The state after the evaluations of the policies asked for, which come in one or more consecutive parts.

        The report is None if the generation is not complete yet: ME-ES asks twice per generation.
        """
        ...

    def start(self, seed: int) -> tuple[State, Report]:
        """Generation 0: random policies."""
        ...

    def advance(self, state: State, seed: int, stage: Stage = unstaged) -> tuple[State, Report]:
        """The next generation: ask, evaluate with the setting's simulator, tell."""
        ...


def generations(algorithm: Algorithm, evaluations: int) -> int:
    """How many generations follow the initial one within a budget of evaluations."""
    initial, each = algorithm.initial_evaluations, algorithm.generation_evaluations
    if evaluations < initial:
        raise ValueError(f"{evaluations} evaluations are fewer than one batch of {initial}; ask for at least {initial}")
    return (evaluations - initial) // each
