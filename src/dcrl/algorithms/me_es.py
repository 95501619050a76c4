"""ME-ES (Colas et al., 2020): an evolution strategy that alternates between seeking fitness and seeking novelty.

Every generation estimates a gradient from 1,000 samples around a centre, moves the centre along it, evaluates the new
centre 30 times and adds it to the archive. After 10 generations the search restarts from another elite and changes its
objective: novelty first, then fitness, in alternation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from dcrl import keys
from dcrl.algorithms.algorithm import ArchiveConfig, Setting, Stage, unstaged
from dcrl.algorithms.asked import Asked, key_of, outcomes
from dcrl.algorithms.state import (
    OperatorReport,
    Report,
    State,
    count_evaluations,
    empty_state,
    initial_report,
    report,
)
from dcrl.archive import archive as archives
from dcrl.archive.cells import cell_of
from dcrl.archive.novelty import novelty
from dcrl.archive.selection import occupied_cells
from dcrl.hyperparameters import at_least
from dcrl.learners.td3 import TD3
from dcrl.networks.perceptrons import initial_policies
from dcrl.types import Evaluation, Floats, Ints
from dcrl.variation import evolution_strategy
from dcrl.variation.evolution_strategy import EvolutionStrategyConfig
from dcrl.variation.operator import no_target


@dataclass(frozen=True, kw_only=True)
class MEESConfig:
    """ME-ES; the defaults are the paper's or, where it states none, those of the authors' code."""

    evaluations_of_centre: int = 30
    """Episodes of a new centre; its fitness and descriptor are their means."""
    generations_per_parent: int = 10
    """Generations before the search restarts from another elite."""
    novelty_neighbours: int = 10
    """Nearest neighbours, among the descriptors of all centres so far, whose mean distance is a policy's novelty."""
    exploit_parents: int = 2
    """A search for fitness starts from one of this many fittest elites, of the archive or of the recent cells."""
    explore_parents: int = 5
    """A search for novelty starts from one of this many most novel elites."""
    recent_cells: int = 5
    """Number of most recently improved cells; half of the searches for fitness start from their elites."""
    archive: ArchiveConfig = ArchiveConfig()
    es: EvolutionStrategyConfig = EvolutionStrategyConfig()

    def __post_init__(self) -> None:
        at_least(self, 1, "evaluations_of_centre", "generations_per_parent", "novelty_neighbours")
        at_least(self, 1, "exploit_parents", "explore_parents", "recent_cells")


@dataclass(frozen=True, kw_only=True)
class MEES:
    """The algorithm; `state.search` is the centre, `state.novelty` the descriptors of all centres so far."""

    setting: Setting
    config: MEESConfig
    learners: tuple[TD3, ...] = ()
    operator_names: tuple[str, ...] = ("es",)

    @property
    def archive_config(self) -> ArchiveConfig:
        return self.config.archive

    @property
    def targeted_names(self) -> tuple[str, ...]:
        return ()

    @property
    def initial_evaluations(self) -> int:
        return self.config.evaluations_of_centre

    @property
    def generation_evaluations(self) -> int:
        return self.config.es.es_samples + self.config.evaluations_of_centre

    @property
    def plan(self) -> str:
        return f"{self.config.es.es_samples} es samples + {self.config.evaluations_of_centre} of the new centre"

    def empty_state(self, seed: int) -> State:
        centre = initial_policies(self.setting.layers, seed, 1)[0]
        return dataclasses.replace(
            empty_state(self.setting.empty_archive(self.archive_config, seed)),
            search=evolution_strategy.begin(self.config.es, centre, np.zeros(0, np.int64)),
        )

    def start(self, seed: int) -> tuple[State, Report]:
        return self.advance(self.empty_state(seed), seed)

    def ask(self, state: State, seed: int, stage: Stage = unstaged) -> Asked:
        """Samples around the centre; once they have been told, repeated evaluations of the new centre."""
        if self._owed(state):
            repeated = np.repeat(state.search.centre[None], self.config.evaluations_of_centre, axis=0)
            return self._asked(repeated, state, seed, "centre")
        stage("es")
        state = dataclasses.replace(state, generation=state.generation + 1)
        if (state.generation - 1) % self.config.generations_per_parent == 0:
            cell = self._parent(state, keys.stream(key_of(state, seed), "parent"))
            search = evolution_strategy.begin(self.config.es, state.archive.genotype[cell], state.search.recent)
            state = dataclasses.replace(state, search=search)
        return self._asked(self._samples(state, seed)[0], state, seed, "start")

    def tell(self, asked: Asked, evaluations: Sequence[Evaluation]) -> tuple[State, Report | None]:
        """The samples move the centre; the centre's own evaluations add it to the archive."""
        evaluation = outcomes(asked.checked(evaluations, self.setting.descriptor))
        state = count_evaluations(asked.state, evaluation)
        if self._owed(state):
            return self._step(state, evaluation, asked.seed), None
        return self._add_centre(state, evaluation)

    def advance(self, state: State, seed: int, stage: Stage = unstaged) -> tuple[State, Report]:
        """Ask, evaluate, tell, once for the samples and once for the centre."""
        complete = None
        while complete is None:
            asked = self.ask(state, seed, stage)
            stage("evaluate")
            state, complete = self.tell(asked, [self.setting.evaluate(asked)])
        return state, complete

    def _owed(self, state: State) -> bool:
        """Whether the generation's centre is still to be evaluated; in generation 0 it is the first policy."""
        return state.evaluations < self.initial_evaluations + state.generation * self.generation_evaluations

    def _exploring(self, state: State) -> bool:
        return (state.generation - 1) // self.config.generations_per_parent % 2 == 0

    def _samples(self, state: State, seed: int) -> tuple[Floats, Floats]:
        """The policies around the centre, and their noise."""
        noise = keys.stream(key_of(state, seed), "noise")
        return evolution_strategy.samples(self.config.es, self.setting.layers, state.search.centre, noise)

    def _step(self, state: State, evaluation: Evaluation, seed: int) -> State:
        """The centre after one step along the gradient of the samples' fitness, or of their novelty."""
        scores = evaluation.fitness
        if self._exploring(state):
            scores = novelty(state.novelty, evaluation.descriptor, self.config.novelty_neighbours)
        noise = self._samples(state, seed)[1]
        return dataclasses.replace(state, search=evolution_strategy.step(self.config.es, state.search, noise, scores))

    def _parent(self, state: State, key: jax.Array) -> int:
        """The cell whose elite becomes the next centre."""
        archive, config = state.archive, self.config
        occupied = occupied_cells(archive)
        if self._exploring(state):
            values = novelty(state.novelty, archive.descriptor[occupied], config.novelty_neighbours)
            best = _best(occupied, values, config.explore_parents)
        else:
            recent = np.unique(state.search.recent)
            some = recent if jax.random.bernoulli(keys.stream(key, "recent")) and len(recent) else occupied
            best = _best(some, archive.fitness[some], config.exploit_parents)
        return int(best[int(jax.random.randint(keys.stream(key, "choice"), (), 0, len(best)))])

    def _add_centre(self, state: State, evaluation: Evaluation) -> tuple[State, Report]:
        """The centre into the archive, with the means of its episodes, and its descriptor kept for novelty."""
        search = state.search
        fitness, descriptor = evaluation.fitness.mean(keepdims=True), evaluation.descriptor.mean(axis=0, keepdims=True)
        archive, addition = archives.add(state.archive, search.centre[None], fitness, descriptor)
        reached = descriptor[np.isfinite(descriptor).all(axis=1)]
        if addition.added[0]:
            cell = cell_of(archive.centroids, descriptor)
            search = search._replace(recent=np.concatenate([search.recent, cell])[-self.config.recent_cells :])
        state = dataclasses.replace(
            state, archive=archive, novelty=np.concatenate([state.novelty, reached]), search=search
        )
        if not state.generation:
            return state, initial_report(state, self.operator_names)
        outcome = OperatorReport(
            name="es",
            evaluations=self.generation_evaluations,
            added=int(addition.added.sum()),
            improvement=float(addition.improvement.sum()),
        )
        return state, report(state, (outcome,))

    def _asked(self, genotype: Floats, state: State, seed: int, stream: str) -> Asked:
        return Asked(
            genotype=genotype,
            target=no_target(len(genotype), self.setting.descriptor),
            starts=keys.each(keys.stream(key_of(state, seed), stream), len(genotype)),
            record=False,
            state=state,
            seed=seed,
        )


def _best(cells: Ints, values: Floats, count: int) -> Ints:
    """The cells of the highest values."""
    return cells[np.argsort(-values, kind="stable")[:count]]


def me_es(setting: Setting, config: MEESConfig) -> MEES:
    return MEES(setting=setting, config=config)
