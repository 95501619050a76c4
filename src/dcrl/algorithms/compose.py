"""One generation of an algorithm made of operators (the paper's Algorithm 1): train, select and vary, evaluate, add."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.overlap import meanwhile, without_training
from dcrl.algorithms.state import (
    OperatorReport,
    Report,
    State,
    count_evaluations,
    empty_state,
    initial_report,
    report,
)
from dcrl.algorithms.state_novelty import StateNovelty
from dcrl.archive import archive as archives
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.replay import NO_REPLAY, Replay
from dcrl.learners.td3 import TD3, TD3State
from dcrl.learners.training import train
from dcrl.networks.perceptrons import initial_policies
from dcrl.simulators.rollouts import evaluate
from dcrl.types import Evaluation, Floats
from dcrl.variation.operator import Offspring, Operator, Sources, concatenate, no_target

TRAIN = "train"  # the stage in which learners are trained
Batches = list[tuple[Offspring, Evaluation]]  # offspring and their episodes, in the operators' order


@dataclass(frozen=True, kw_only=True)
class Composition:
    """An algorithm made of operators, with the learners they need, which share one replay buffer."""

    setting: Setting
    archive_config: ArchiveConfig
    operators: tuple[Operator, ...]
    data_operators: tuple[Operator, ...] = ()  # their offspring fill the replay buffer and never enter the archive
    learners: tuple[TD3, ...] = ()
    length_scale: float = 0.1  # L of the similarity S(d, d')
    novelty: StateNovelty | None = None  # the reward of learners that seek novel states
    overlap: bool = True  # simulate offspring that need no training during it; the results are the same

    @property
    def initial_evaluations(self) -> int:
        """As many random policies as a generation has offspring for the archive."""
        return sum(operator.count for operator in self.operators)

    @property
    def generation_evaluations(self) -> int:
        return sum(operator.count for operator in self._all)

    @property
    def operator_names(self) -> tuple[str, ...]:
        return tuple(operator.name for operator in self._all)

    @property
    def plan(self) -> str:
        parts = [f"{operator.count} {operator.name}" for operator in self.operators]
        return " + ".join([*parts, *(f"{each.count} {each.name} for data only" for each in self.data_operators)])

    @property
    def _all(self) -> tuple[Operator, ...]:
        return self.operators + self.data_operators

    def empty_state(self, seed: int) -> State:
        state = empty_state(self.setting.empty_archive(self.archive_config, seed), self._replay())
        return dataclasses.replace(state, learned=tuple(self._initialise(i, seed) for i in range(len(self.learners))))

    def start(self, seed: int) -> tuple[State, Report]:
        key, genotype = keys.generation(keys.root(seed), 0), self._initial_policies(seed)
        offspring = Offspring(genotype=genotype, target=no_target(len(genotype), self.setting.descriptor))
        evaluation = self._evaluate(offspring, keys.each(keys.stream(key, "start"), len(genotype)))
        state, _ = self._add(self.empty_state(seed), [(offspring, evaluation)], key)
        return state, initial_report(state, self.operator_names)

    def advance(
        self, state: State, seed: int, stage: Callable[[str], None] = lambda name: None
    ) -> tuple[State, Report]:
        key = keys.generation(keys.root(seed), state.generation + 1)
        learned, batches, early = state.learned, Batches(), 0
        if self.learners and state.replay.size:
            stage(TRAIN)
            if self.overlap and self.setting.simulator.overlap:
                early = without_training(self._all)
            with meanwhile(partial(self._vary_and_evaluate, slice(0, early), state, key)) as first:
                learned = tuple(self._train(i, state, key) for i in range(len(self.learners)))
            batches += first.result()
        state = dataclasses.replace(state, generation=state.generation + 1, learned=learned)
        batches += self._vary_and_evaluate(slice(early, None), state, key, stage)
        stage("add")
        state, addition = self._add(state, batches, key)
        return state, report(state, self._operator_reports(addition))

    def _train(self, number: int, state: State, key: jax.Array) -> TD3State:
        """One generation's actor-critic training of a learner (Algorithm 2)."""
        learner, key = self.learners[number], keys.stream(key, _numbered("train", number))
        reward = self.novelty.reward(state) if self.novelty and learner.reward == "novelty" else None
        trained: TD3State = jax.block_until_ready(train(learner, state.learned[number], state.replay, key, reward))
        return trained

    def _vary_and_evaluate(
        self, which: slice, state: State, key: jax.Array, stage: Callable[[str], None] = lambda name: None
    ) -> Batches:
        """The offspring of some of the operators (Algorithms 3 and 4), each evaluated in one episode."""
        sources = Sources(archive=state.archive, learned=state.learned, replay=state.replay)
        offspring = []
        for operator in self._all[which]:
            stage(operator.name)
            offspring.append(operator.vary(sources, keys.stream(key, operator.name)))
        if not offspring:
            return []
        stage("evaluate")
        starts = keys.each(keys.stream(key, "start"), self.generation_evaluations)
        rows = np.repeat(np.arange(len(self._all)), [operator.count for operator in self._all])
        mine = np.isin(rows, np.arange(len(self._all))[which])
        batch = concatenate(offspring)
        return [(batch, self._evaluate(batch, starts[mine]))]

    def _evaluate(self, offspring: Offspring, starts: jax.Array) -> Evaluation:
        setting, record = self.setting, bool(self.learners)
        return evaluate(
            setting.simulator, setting.descriptor, offspring.genotype, starts, setting.layers, record=record
        )

    def _add(self, state: State, batches: Batches, key: jax.Array) -> tuple[State, archives.Addition]:
        """The operators' offspring into the archive, all transitions into the replay buffer."""
        for offspring, evaluation in batches:
            self._insert(state.replay, offspring, evaluation)
            state = count_evaluations(state, evaluation)
        novelty = state.novelty
        if self.novelty:
            novelty = self.novelty.update(novelty, [evaluation for _, evaluation in batches], key)
        columns = zip(*((o.genotype, e.fitness, e.descriptor) for o, e in batches), strict=True)
        candidates = (np.concatenate(column)[: self.initial_evaluations] for column in columns)
        archive, addition = archives.add(state.archive, *candidates)
        return dataclasses.replace(state, archive=archive, novelty=novelty), addition

    def _insert(self, replay: Replay, offspring: Offspring, evaluation: Evaluation) -> None:
        """Transitions with d' and the similarity S(d, d') that scales their rewards."""
        if evaluation.transitions is None:
            return
        count = len(offspring.genotype)
        scale, target = np.ones(count, np.float32), np.zeros((count, 0), np.float32)
        if self.learners[0].descriptor_size:
            achieved = normalise(self.setting.descriptor, evaluation.descriptor)
            wanted = normalise(self.setting.descriptor, offspring.target)
            target = np.where(np.isnan(wanted), achieved, wanted)
            scale = similarity(achieved, target, self.length_scale)
        replay.insert(evaluation.transitions, evaluation.valid, scale, target)

    def _operator_reports(self, addition: archives.Addition) -> tuple[OperatorReport, ...]:
        reports, first = [], 0
        for operator in self._all:
            rows = slice(first, first + operator.count)  # beyond the end for data operators: nothing was added
            first += operator.count
            reports.append(
                OperatorReport(
                    name=operator.name,
                    evaluations=operator.count,
                    added=int(addition.added[rows].sum()),
                    improvement=float(addition.improvement[rows].sum()),
                )
            )
        return tuple(reports)

    def _initial_policies(self, seed: int) -> Floats:
        return initial_policies(self.setting.layers, seed, self.initial_evaluations)

    def _initialise(self, number: int, seed: int) -> TD3State:
        """Fresh networks of a learner; an actor of the policies' shape starts as the first of them."""
        learner = self.learners[number]
        actor = None if learner.descriptor_size else jax.numpy.asarray(self._initial_policies(seed)[0])
        return learner.init(keys.stream(keys.generation(keys.root(seed), 0), _numbered("learner", number)), actor)

    def _replay(self) -> Replay:
        if not self.learners:
            return NO_REPLAY
        learner = self.learners[0]
        return Replay(
            learner.config.replay_size,
            learner.observation_size,
            learner.action_size,
            learner.descriptor_size,
            state_size=self.novelty.stored_size if self.novelty else 0,
        )


def _numbered(name: str, number: int) -> str:
    """The name of a learner's random stream."""
    return f"{name} {number}" if number else name
