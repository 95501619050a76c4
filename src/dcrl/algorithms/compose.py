"""One generation: train, select, vary, evaluate, add (and remember in the replay buffer)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile

import jax
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import (
    ArchiveConfig,
    OperatorReport,
    Report,
    Setting,
    State,
    counted,
    idle,
    nothing_yet,
    positive,
    random_policies,
    report,
)
from dcrl.archive import archive as archives
from dcrl.archive.novelty import diversity_reward, offer
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.replay import Replay
from dcrl.learners.td3 import TD3, TD3State
from dcrl.learners.training import train
from dcrl.simulators.rollouts import evaluate
from dcrl.types import Evaluation, Floats, Ints
from dcrl.variation.operator import Offspring, Operator, Sources, together, unaimed


@dataclass(frozen=True, kw_only=True)
class StateNoveltyConfig:
    """The memory of states that a novelty-seeking learner compares with; the defaults are the authors'."""

    novelty_capacity: int = 10_000
    """States remembered; the oldest leave first."""
    novelty_threshold: float = 0.1
    """How far a state must be from all remembered ones to be remembered, in the descriptor's units."""
    novelty_neighbours: int = 5
    """Nearest neighbours whose mean squared distance is the reward; as many as there are, if fewer."""
    novelty_steps: int = 64_000
    """Steps a generation that are offered to the memory, in whole episodes drawn at random."""

    def __post_init__(self) -> None:
        positive(
            novelty_capacity=self.novelty_capacity,
            novelty_threshold=self.novelty_threshold,
            novelty_neighbours=self.novelty_neighbours,
            novelty_steps=self.novelty_steps,
        )


@dataclass(frozen=True, kw_only=True)
class Composition:
    """An algorithm made of operators, with the learners they need.

    `probes` are operators whose offspring only feed the replay buffer. Learners share that buffer.
    """

    setting: Setting
    archive_config: ArchiveConfig
    operators: tuple[Operator, ...]
    probes: tuple[Operator, ...] = ()
    learners: tuple[TD3, ...] = ()
    length_scale: float = 0.1
    novelty_config: StateNoveltyConfig | None = None  # for learners that seek novel states
    beside: bool = True  # play the offspring that need no training while it goes on; changes no result

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
        return " + ".join([*parts, *(f"{probe.count} {probe.name} for data only" for probe in self.probes)])

    @property
    def _all(self) -> tuple[Operator, ...]:
        return self.operators + self.probes

    def blank(self, seed: int) -> State:
        return dataclasses.replace(
            nothing_yet(self.setting, self.archive_config, seed),
            learned=tuple(self._init(i, seed) for i in range(len(self.learners))),
            replay=self._replay(),
            novelty=np.zeros((0, self.setting.descriptor.size), np.float32) if self.novelty_config else None,
        )

    @property
    def _early(self) -> tuple[Operator, ...]:
        """The first operators, as far as their offspring do not wait for what is being trained."""
        if not self.beside or not self.setting.simulator.overlap:
            return ()
        return tuple(takewhile(lambda operator: not operator.waits, self._all))

    def start(self, seed: int) -> tuple[State, Report]:
        key, genotype = keys.generation(keys.root(seed), 0), self._first_policies(seed)
        offspring = Offspring(genotype=genotype, target=unaimed(len(genotype), self.setting.descriptor))
        evaluation = self._evaluate(offspring, keys.each(keys.stream(key, "start"), len(genotype)))
        state, _ = self._add(self.blank(seed), [(offspring, evaluation)], len(genotype), key)
        return state, report(state, idle(self.operator_names))

    def advance(
        self, state: State, seed: int, stage: Callable[[str], None] = lambda name: None
    ) -> tuple[State, Report]:
        key = keys.generation(keys.root(seed), state.generation + 1)
        sources = Sources(archive=state.archive, learned=state.learned, replay=state.replay)
        starts = keys.each(keys.stream(key, "start"), self.generation_evaluations)
        end = np.cumsum([operator.count for operator in self._all])
        share = [slice(b - operator.count, b) for operator, b in zip(self._all, end, strict=True)]
        early: tuple[Operator, ...] = ()
        played: list[tuple[Offspring, Evaluation]] = []
        if state.learned and state.replay is not None and state.replay.size:
            early = self._early
            stage("train")
            with ThreadPoolExecutor(1) as thread:
                playing = [
                    thread.submit(self._play, operator, sources, starts[rows], key)
                    for operator, rows in zip(early, share, strict=False)
                ]
                learned = tuple(self._train(i, state, key) for i in range(len(state.learned)))
            sources = dataclasses.replace(sources, learned=learned)
            played = [each.result() for each in playing]
        offspring = []
        for operator in self._all[len(early) :]:
            stage(operator.name)
            offspring.append(operator.vary(sources, keys.stream(key, operator.name)))
        if offspring:
            stage("evaluate")
            others = together(offspring)
            played.append((others, self._evaluate(others, starts[-len(others.genotype) :])))
        stage("add")
        state = dataclasses.replace(state, generation=state.generation + 1, learned=sources.learned)
        state, addition = self._add(state, played, self.initial_evaluations, key)
        operators = tuple(
            OperatorReport(
                name=operator.name,
                evaluations=operator.count,
                added=int(addition.added[rows].sum()),
                improvement=float(addition.improvement[rows].sum()),
            )
            for operator, rows in zip(self._all, share, strict=True)
        )
        return state, report(state, operators)

    def _play(
        self, operator: Operator, sources: Sources, starts: jax.Array, key: jax.Array
    ) -> tuple[Offspring, Evaluation]:
        offspring = operator.vary(sources, keys.stream(key, operator.name))
        return offspring, self._evaluate(offspring, starts)

    def _first_policies(self, seed: int) -> Floats:
        key = keys.stream(keys.generation(keys.root(seed), 0), "policies")
        return random_policies(self.setting.layers, key, self.initial_evaluations)

    def _init(self, number: int, seed: int) -> TD3State:
        """Fresh networks; an actor of the policies' shape starts as the first of them."""
        learner = self.learners[number]
        actor = None if learner.descriptor_size else jax.numpy.asarray(self._first_policies(seed)[0])
        return learner.init(keys.stream(keys.generation(keys.root(seed), 0), _numbered("learner", number)), actor)

    def _replay(self) -> Replay | None:
        if not self.learners:
            return None
        learner, stored = self.learners[0], self.novelty_config and not self.setting.descriptor_from_observation
        return Replay(
            learner.config.replay_size,
            learner.observation_size,
            learner.action_size,
            learner.descriptor_size,
            state_size=self.setting.descriptor.size if stored else 0,
        )

    def _train(self, number: int, state: State, key: jax.Array) -> TD3State:
        assert state.replay is not None
        learner, key = self.learners[number], keys.stream(key, _numbered("train", number))
        reward = self._novelty_reward(state) if learner.reward == "novelty" else None
        trained: TD3State = jax.block_until_ready(train(learner, state.learned[number], state.replay, key, reward))
        return trained

    def _novelty_reward(self, state: State) -> Callable[[Ints], Floats]:
        """The reward of the replay buffer's rows: how novel the states are that they start from."""
        replay, memory, config = state.replay, state.novelty, self.novelty_config
        assert replay is not None
        assert memory is not None
        assert config is not None

        def reward(index: Ints) -> Floats:
            computed = self.setting.descriptor_from_observation
            states = computed(replay.observation.take(index, axis=0)) if computed else replay.states(index)
            flat = self._bounded(states.reshape(-1, states.shape[-1]))
            return diversity_reward(memory, flat, config.novelty_neighbours).reshape(index.shape)

        return reward

    def _bounded(self, states: Floats) -> Floats:
        return np.clip(states, self.setting.descriptor.low, self.setting.descriptor.high).astype(np.float32)

    def _evaluate(self, offspring: Offspring, starts: jax.Array) -> Evaluation:
        setting, record = self.setting, bool(self.learners)
        return evaluate(
            setting.simulator, setting.descriptor, offspring.genotype, starts, setting.layers, record=record
        )

    def _add(
        self, state: State, played: Sequence[tuple[Offspring, Evaluation]], entering: int, key: jax.Array
    ) -> tuple[State, archives.Addition]:
        """The first offspring into the archive, all transitions into the replay buffer."""
        if state.replay is not None:
            for offspring, evaluation in played:
                self._remember(state.replay, offspring, evaluation)
            state = dataclasses.replace(state, novelty=self._met(state.novelty, played, key))
        parts = zip(*((some.genotype, found.fitness, found.descriptor) for some, found in played), strict=True)
        archive, addition = archives.add(state.archive, *(np.concatenate(part)[:entering] for part in parts))
        for _, evaluation in played:
            state = counted(state, evaluation)
        return dataclasses.replace(state, archive=archive), addition

    def _remember(self, replay: Replay, offspring: Offspring, evaluation: Evaluation) -> None:
        assert evaluation.transitions is not None
        count = len(offspring.genotype)
        scale, target = np.ones(count, np.float32), np.zeros((count, 0), np.float32)
        if self.learners[0].descriptor_size:
            achieved = normalise(self.setting.descriptor, evaluation.descriptor)
            wanted = normalise(self.setting.descriptor, offspring.target)
            target = np.where(np.isnan(wanted), achieved, wanted)
            scale = similarity(achieved, target, self.length_scale)
        replay.insert(evaluation.transitions, evaluation.valid, scale, target)

    def _met(
        self, memory: Floats | None, played: Sequence[tuple[Offspring, Evaluation]], key: jax.Array
    ) -> Floats | None:
        """The memory of states after it was offered those of some episodes, drawn with replacement."""
        config, transitions = self.novelty_config, [found.transitions for _, found in played if found.transitions]
        lived = [(some, b) for some in transitions for b in np.flatnonzero(some.steps)]
        if config is None or memory is None or not lived:
            return memory
        count = max(1, config.novelty_steps // transitions[0].reward.shape[1])
        drawn = np.asarray(jax.random.randint(keys.stream(key, "novelty"), (count,), 0, len(lived)))
        states = [some.state_descriptor[b, : some.steps[b]] for some, b in (lived[i] for i in drawn)]
        return offer(memory, self._bounded(np.concatenate(states)), config.novelty_threshold, config.novelty_capacity)


def _numbered(name: str, number: int) -> str:
    return f"{name} {number}" if number else name
