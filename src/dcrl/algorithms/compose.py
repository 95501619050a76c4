"""One generation: train, select, vary, evaluate, add (and remember in the replay buffer)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np

from dcrl import keys
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive
from dcrl.archive.centroids import centroids
from dcrl.learners import td3
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.training import train
from dcrl.networks import Layers
from dcrl.replay import Replay
from dcrl.rollout import evaluate
from dcrl.simulators.simulator import Simulator
from dcrl.types import Descriptor, Evaluation, Floats
from dcrl.variation.operator import Offspring, Operator, Sources, together, unaimed


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
    learned: td3.TD3State | None
    replay: Replay | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What an algorithm is applied to: where policies are evaluated, their shape, and what tells them apart."""

    simulator: Simulator
    layers: Layers
    descriptor: Descriptor


@dataclass(frozen=True, kw_only=True)
class Composition:
    """An algorithm: operators, and a learner if they need one."""

    setting: Setting
    archive_config: ArchiveConfig
    operators: tuple[Operator, ...]
    learner: td3.TD3 | None = None
    length_scale: float = 0.1

    @property
    def batch_size(self) -> int:
        return sum(operator.count for operator in self.operators)

    @property
    def operator_names(self) -> tuple[str, ...]:
        return tuple(operator.name for operator in self.operators)

    def start(self, seed: int) -> tuple[State, Report]:
        """Generation 0: as many random policies as a generation has offspring."""
        key = keys.generation(keys.root(seed), 0)
        state = State(
            generation=0,
            evaluations=0,
            environment_steps=0,
            invalid=0,
            archive=archives.empty(self._centroids(seed), self.setting.layers.parameters),
            learned=self.learner.init(keys.stream(key, "learner")) if self.learner else None,
            replay=self._replay(),
        )
        genotype = np.asarray(_random_policies(self.setting.layers, keys.stream(key, "policies"), self.batch_size))
        offspring = Offspring(genotype=genotype, target=unaimed(self.batch_size, self.setting.descriptor))
        state, _ = self._add(state, offspring, self._evaluate(offspring, keys.stream(key, "start")))
        nothing = tuple(
            OperatorReport(name=name, evaluations=0, added=0, improvement=0.0) for name in self.operator_names
        )
        return state, report(state, nothing)

    def advance(
        self, state: State, seed: int, stage: Callable[[str], None] = lambda name: None
    ) -> tuple[State, Report]:
        """The next generation. `stage` is told each stage's name before it begins; what it raises ends the
        generation without a trace in `state`.
        """
        number = state.generation + 1
        key = keys.generation(keys.root(seed), number)
        learned = state.learned
        if self.learner and learned is not None and state.replay is not None and state.replay.size:
            stage("train")
            learned = jax.block_until_ready(train(self.learner, learned, state.replay, keys.stream(key, "train")))
        sources = Sources(archive=state.archive, learned=learned, replay=state.replay)
        offspring = []
        for operator in self.operators:
            stage(operator.name)
            offspring.append(operator.vary(sources, keys.stream(key, operator.name)))
        stage("evaluate")
        everyone = together(offspring)
        evaluation = self._evaluate(everyone, keys.stream(key, "start"))
        stage("add")
        state = dataclasses.replace(state, generation=number, learned=learned)
        state, addition = self._add(state, everyone, evaluation)
        first = np.cumsum([0, *(operator.count for operator in self.operators)])
        operators = tuple(
            OperatorReport(
                name=operator.name,
                evaluations=operator.count,
                added=int(addition.added[a:b].sum()),
                improvement=float(addition.improvement[a:b].sum()),
            )
            for operator, a, b in zip(self.operators, first, first[1:], strict=False)
        )
        return state, report(state, operators)

    def _centroids(self, seed: int) -> Floats:
        return centroids(self.setting.descriptor, self.archive_config.cells, self.archive_config.cvt_samples, seed)

    def _replay(self) -> Replay | None:
        if self.learner is None:
            return None
        learner = self.learner
        capacity = learner.config.replay_size
        return Replay(capacity, learner.observation_size, learner.action_size, learner.descriptor_size)

    def _evaluate(self, offspring: Offspring, key: jax.Array) -> Evaluation:
        setting, genotype = self.setting, offspring.genotype
        starts, record = keys.each(key, len(genotype)), self.learner is not None
        return evaluate(setting.simulator, setting.descriptor, genotype, starts, setting.layers, record=record)

    def _add(self, state: State, offspring: Offspring, evaluation: Evaluation) -> tuple[State, archives.Addition]:
        """Offspring into the archive, their transitions into the replay buffer."""
        genotype = offspring.genotype
        if state.replay is not None:
            self._remember(state.replay, offspring, evaluation)
        archive, addition = archives.add(state.archive, genotype, evaluation.fitness, evaluation.descriptor)
        state = dataclasses.replace(
            state,
            archive=archive,
            evaluations=state.evaluations + len(genotype),
            environment_steps=state.environment_steps + int(evaluation.steps.sum()),
            invalid=state.invalid + int((~evaluation.valid).sum()),
        )
        return state, addition

    def _remember(self, replay: Replay, offspring: Offspring, evaluation: Evaluation) -> None:
        assert self.learner is not None
        assert evaluation.transitions is not None
        count = len(offspring.genotype)
        scale, target = np.ones(count, np.float32), np.zeros((count, 0), np.float32)
        if self.learner.descriptor_size:
            achieved = normalise(self.setting.descriptor, evaluation.descriptor)
            wanted = normalise(self.setting.descriptor, offspring.target)
            target = np.where(np.isnan(wanted), achieved, wanted)
            scale = similarity(achieved, target, self.length_scale)
        replay.insert(evaluation.transitions, evaluation.valid, scale, target)


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


@partial(jax.jit, static_argnames=("layers", "count"))
def _random_policies(layers: Layers, key: jax.Array, count: int) -> jax.Array:
    return jax.vmap(layers.init)(keys.each(key, count))
