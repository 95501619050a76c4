"""What every algorithm is: it starts, and it advances by a generation. And what the generations share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import jax
import numpy as np

from dcrl import keys
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive
from dcrl.archive.centroids import centroids
from dcrl.learners.replay import Replay
from dcrl.learners.td3 import TD3, TD3Config, TD3State
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import Layers
from dcrl.simulators.simulator import Simulator
from dcrl.types import Array, Descriptor, Evaluation, Floats
from dcrl.variation.evolution_strategy import Search


@dataclass(frozen=True, kw_only=True)
class ArchiveConfig:
    """The archive's tessellation; the defaults are the paper's."""

    cells: int = 1024
    """Cells (centroids) of the archive."""
    cvt_samples: int = 50_000
    """Uniform samples that the centroids are computed from."""

    def __post_init__(self) -> None:
        if self.cells < 1 or self.cvt_samples < self.cells:
            raise ValueError(
                f"cells must be at least 1 and cvt_samples at least cells, got {self.cells} and {self.cvt_samples}"
            )


def positive(**values: float) -> None:
    """Refuse a configuration in which one of these is not above 0."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, got {value}")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What an algorithm is applied to: where policies are evaluated, their shape, and what tells them apart."""

    simulator: Simulator
    layers: Layers
    descriptor: Descriptor
    descriptor_from_observation: Callable[[Array], Array] | None = None  # where observations contain the descriptor

    def learner(self, config: TD3Config, *, conditioned: bool = False) -> TD3:
        """An actor-critic for this setting, conditioned on descriptors or not."""
        return TD3(
            observation_size=self.layers.sizes[0],
            action_size=self.layers.sizes[-1],
            descriptor_size=self.descriptor.size if conditioned else 0,
            actor_hidden=self.layers.sizes[1:-1],
            config=config,
        )


@dataclass(frozen=True, kw_only=True)
class OperatorReport:
    """What one operator achieved in one generation."""

    name: str
    evaluations: int
    added: int
    improvement: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """Where a run stands after a generation; counts are totals since its start."""

    generation: int
    evaluations: int
    environment_steps: int
    invalid: int
    qd_score: float
    coverage: float
    max_fitness: float
    operators: tuple[OperatorReport, ...]


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything a run needs to go on. The replay buffer is the one part that changes in place."""

    generation: int
    evaluations: int
    environment_steps: int
    invalid: int
    archive: Archive
    learned: tuple[TD3State, ...] = ()  # one a learner
    replay: Replay | None = None
    novelty: Floats | None = None  # (N, D) descriptors met before, where an algorithm seeks new ones
    search: Search | None = None  # where an evolution strategy stands


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
    def initial_evaluations(self) -> int: ...
    @property
    def generation_evaluations(self) -> int: ...
    @property
    def plan(self) -> str:
        """What a generation's evaluations are, in words."""
        ...

    def blank(self, seed: int) -> State:
        """The state before anything was evaluated."""
        ...

    def start(self, seed: int) -> tuple[State, Report]:
        """Generation 0: random policies."""
        ...

    def advance(
        self, state: State, seed: int, stage: Callable[[str], None] = lambda name: None
    ) -> tuple[State, Report]:
        """The next generation. `stage` is told each stage's name before it begins; what it raises ends the
        generation without a trace in `state`.
        """
        ...


def nothing_yet(setting: Setting, config: ArchiveConfig, seed: int) -> State:
    """What every blank state has: an empty archive, and no counts."""
    return State(
        generation=0,
        evaluations=0,
        environment_steps=0,
        invalid=0,
        archive=archives.empty(
            centroids(setting.descriptor, config.cells, config.cvt_samples, seed), setting.layers.parameters
        ),
    )


def counted(state: State, evaluation: Evaluation) -> State:
    """The state with these episodes counted."""
    return dataclasses.replace(
        state,
        evaluations=state.evaluations + len(evaluation.steps),
        environment_steps=state.environment_steps + int(evaluation.steps.sum()),
        invalid=state.invalid + int((~evaluation.valid).sum()),
    )


def report(state: State, operators: tuple[OperatorReport, ...]) -> Report:
    return Report(
        generation=state.generation,
        evaluations=state.evaluations,
        environment_steps=state.environment_steps,
        invalid=state.invalid,
        qd_score=state.archive.qd_score,
        coverage=state.archive.coverage,
        max_fitness=state.archive.max_fitness,
        operators=operators,
    )


def idle(names: tuple[str, ...]) -> tuple[OperatorReport, ...]:
    """The operators' part in the initial population: none."""
    return tuple(OperatorReport(name=name, evaluations=0, added=0, improvement=0.0) for name in names)


def random_policies(layers: Layers, key: jax.Array, count: int) -> Floats:
    """(count, P)"""
    return np.asarray(_random_policies(layers, key, count))


@partial(jax.jit, static_argnames=("layers", "count"))
def _random_policies(layers: Layers, key: jax.Array, count: int) -> jax.Array:
    return jax.vmap(partial(init, layers))(keys.each(key, count))
