"""One generation of an algorithm made of operators (the paper's Algorithm 1): train, select and vary, evaluate, add."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import jax

from dcrl import keys
from dcrl.algorithms.algorithm import ArchiveConfig, Setting, Stage, unstaged
from dcrl.algorithms.approach import Approach
from dcrl.algorithms.asked import Asked, join, key_of, outcomes
from dcrl.algorithms.episode_memory import EpisodeMemory
from dcrl.algorithms.operator_reports import operator_reports, similarities
from dcrl.algorithms.overlap import meanwhile, without_training
from dcrl.algorithms.state import (
    Report,
    State,
    count_evaluations,
    empty_state,
    initial_report,
    report,
)
from dcrl.algorithms.state_novelty import StateNovelty
from dcrl.algorithms.stored_transitions import insert_conditioned, insert_unconditioned, stored_size
from dcrl.archive import archive as archives
from dcrl.archive.episodes import NO_EPISODES
from dcrl.learners.replay import NO_REPLAY, Replay
from dcrl.learners.td3 import TD3, TD3State
from dcrl.learners.training import Relabel, train
from dcrl.networks.perceptrons import initial_policies
from dcrl.types import Evaluation, Floats
from dcrl.variation.operator import Offspring, Operator, Sources, concatenate, no_target

TRAIN = "train"  # the stage in which learners are trained


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
    approach: Approach | None = None  # a reward for moving towards d', instead of S(d, d') r
    overlap: bool = True  # simulate offspring that need no training during it; the results are the same
    lagged: bool = False  # no offspring needs this generation's training: they come from the networks before it
    episodes: EpisodeMemory | None = None  # for operators that vary with whole episodes

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
    def targeted_names(self) -> tuple[str, ...]:
        conditioned = bool(self.learners and self.learners[0].descriptor_size)
        return tuple(operator.name for operator in self._all if conditioned and operator.targeted)

    @property
    def plan(self) -> str:
        parts = [f"{operator.count} {operator.name}" for operator in self.operators]
        return " + ".join([*parts, *(f"{each.count} {each.name} for data only" for each in self.data_operators)])

    @property
    def _all(self) -> tuple[Operator, ...]:
        return self.operators + self.data_operators

    def empty_state(self, seed: int) -> State:
        state = empty_state(self.setting.empty_archive(self.archive_config, seed), self._replay())
        learned = tuple(self._initialise(i, seed) for i in range(len(self.learners)))
        cells, count = self.archive_config.cells, self.initial_evaluations
        remembered = self.episodes.empty(self.setting, cells, count) if self.episodes else NO_EPISODES
        return dataclasses.replace(state, learned=learned, remembered=remembered)

    def ask(self, state: State, seed: int, stage: Stage = unstaged) -> Asked:
        if not state.evaluations:
            return self._random_policies(state, seed)
        state = _next(state)
        if self.lagged:
            asked = self._vary(slice(0, None), state, seed, stage)
            return dataclasses.replace(asked, state=self._train(state, seed, stage))
        return self._vary(slice(0, None), self._train(state, seed, stage), seed, stage)

    def tell(self, asked: Asked, evaluations: Sequence[Evaluation]) -> tuple[State, Report]:
        """The operators' offspring into the archive, all transitions into the replay buffer."""
        evaluations, state, first = asked.checked(evaluations, self.setting.descriptor), asked.state, 0
        for evaluation in evaluations:
            last = first + len(evaluation.fitness)
            self._insert(state.replay, asked.target[first:last], evaluation)
            state, first = count_evaluations(state, evaluation), last
        memory = state.novelty
        if self.novelty:
            memory = self.novelty.update(memory, evaluations, key_of(state, asked.seed))
        found, count = outcomes(evaluations), self.initial_evaluations  # data operators come after these
        candidates = (asked.genotype[:count], found.fitness[:count], found.descriptor[:count])
        archive, addition = archives.add(state.archive, *candidates)
        state = dataclasses.replace(state, archive=archive, novelty=memory)
        if self.episodes:
            remembered = self.episodes.update(state.remembered, evaluations, archive, addition, found.descriptor)
            state = dataclasses.replace(state, remembered=remembered)
        if not state.generation:
            return state, initial_report(state, self.operator_names)
        scale = similarities(self.setting.descriptor, asked.target, found, self.length_scale)
        return state, report(state, operator_reports(self._all, addition, scale if self.targeted_names else None))

    def start(self, seed: int) -> tuple[State, Report]:
        asked = self.ask(self.empty_state(seed), seed)
        return self.tell(asked, [self.setting.evaluate(asked)])

    def advance(self, state: State, seed: int, stage: Stage = unstaged) -> tuple[State, Report]:
        """Ask, evaluate, tell. Offspring that need no training are varied and evaluated during it."""
        state, early = _next(state), self._evaluated_during_training(state)
        with meanwhile(partial(self._vary_and_evaluate, slice(0, early), state, seed)) as first:
            trained = self._train(state, seed, stage)
        rest = self._vary_and_evaluate(slice(early, None), state if self.lagged else trained, seed, stage)
        parts = [*first.result(), *rest]
        stage("add")
        asked, evaluations = zip(*parts, strict=True)
        return self.tell(join(asked, trained), evaluations)

    def _evaluated_during_training(self, state: State) -> int:
        """How many of the first operators' offspring are evaluated while the learners train."""
        overlaps = self.overlap and self.setting.simulator.overlap and self._trains(state)
        if not overlaps:
            return 0
        return len(self._all) if self.lagged else without_training(self._all)

    def _trains(self, state: State) -> bool:
        return bool(self.learners and state.replay.size)

    def _train(self, state: State, seed: int, stage: Stage) -> State:
        """One generation's actor-critic training of all learners (Algorithm 2)."""
        if not self._trains(state):
            return state
        stage(TRAIN)
        key = key_of(state, seed)
        learned = tuple(self._trained(i, state, key) for i in range(len(self.learners)))
        return dataclasses.replace(state, learned=learned)

    def _trained(self, number: int, state: State, key: jax.Array) -> TD3State:
        learner, key = self.learners[number], keys.stream(key, _numbered("train", number))
        relabel: Relabel | None = None
        if self.novelty and learner.reward == "novelty":
            relabel = self.novelty.relabel(state)
        elif self.approach:
            relabel = self.approach.relabel(state.replay, keys.stream(key, "targets"))
        trained: TD3State = jax.block_until_ready(train(learner, state.learned[number], state.replay, key, relabel))
        return trained

    def _vary_and_evaluate(
        self, which: slice, state: State, seed: int, stage: Stage = unstaged
    ) -> list[tuple[Asked, Evaluation]]:
        """The offspring of some of the operators and their evaluation; nothing if there are none."""
        if not self._all[which]:
            return []
        asked = self._vary(which, state, seed, stage)
        stage("evaluate")
        return [(asked, self.setting.evaluate(asked))]

    def _vary(self, which: slice, state: State, seed: int, stage: Stage) -> Asked:
        """Select and vary (Algorithms 3 and 4): the offspring of some of the operators."""
        key = key_of(state, seed)
        sources = Sources(
            archive=state.archive,
            learned=state.learned,
            replay=state.replay,
            remembered=state.remembered,
        )
        offspring = []
        for operator in self._all[which]:
            stage(operator.name)
            offspring.append(operator.vary(sources, keys.stream(key, operator.name)))
        before = sum(operator.count for operator in self._all[: which.start])
        return self._asked(concatenate(offspring), state, seed, before)

    def _random_policies(self, state: State, seed: int) -> Asked:
        genotype = self._initial_policies(seed)
        target = no_target(len(genotype), self.setting.descriptor)
        return self._asked(Offspring(genotype=genotype, target=target), state, seed, before=0)

    def _asked(self, offspring: Offspring, state: State, seed: int, before: int) -> Asked:
        """Offspring with the starts of their episodes, after those of so many others."""
        starts = keys.each(keys.stream(key_of(state, seed), "start"), before + len(offspring.genotype))[before:]
        return Asked(
            genotype=offspring.genotype,
            target=offspring.target,
            starts=starts,
            record=bool(self.learners or self.episodes),
            state=state,
            seed=seed,
        )

    def _insert(self, replay: Replay, target: Floats, evaluation: Evaluation) -> None:
        if self.learners and self.learners[0].descriptor_size:
            scale = None if self.approach else self.length_scale
            insert_conditioned(replay, evaluation, self.setting.descriptor, target, scale)
        elif self.learners:
            insert_unconditioned(replay, evaluation)

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
            state_size=stored_size(self.setting) if self.novelty or self.approach else 0,
        )


def _next(state: State) -> State:
    """The state with the number of the generation that begins."""
    return dataclasses.replace(state, generation=state.generation + 1)


def _numbered(name: str, number: int) -> str:
    """The name of a learner's random stream."""
    return f"{name} {number}" if number else name
