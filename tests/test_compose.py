"""Generations on the point: the archive's laws, what is remembered, determinism, going on, divergence, learning."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dcrl import keys, simulators, training
from dcrl.algorithms import registry
from dcrl.algorithms.compose import ArchiveConfig, Composition, Report, Setting, State
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.archive import archive as archives
from dcrl.learners.td3 import TD3Config
from dcrl.networks import policy_layers
from dcrl.rollout import evaluate
from dcrl.tasks.point import NOISE, REACH, point_omni
from dcrl.tasks.task import Task
from dcrl.variation.policy_gradient import PolicyGradientConfig

ARCHIVE = ArchiveConfig(cells=64, cvt_samples=1000)
DCRL = DCRLConfig(
    ga_offspring=8,
    pg_offspring=5,
    ai_offspring=3,
    archive=ARCHIVE,
    pg=PolicyGradientConfig(policy_steps=5),
    td3=TD3Config(critic_hidden=(16, 16), critic_steps=20, batch_size=32, replay_size=2000),
)
ME = MEConfig(ga_offspring=16, archive=ARCHIVE)
GENERATIONS = 4


@pytest.fixture(scope="module", autouse=True)
def cached_centroids(tmp_path_factory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCRL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def compose(config: DCRLConfig | MEConfig, task: Task = point_omni) -> Composition:
    layers = policy_layers(task.observation_size, task.action_size, (16, 16))
    setting = Setting(simulator=simulators.make(task), layers=layers, descriptor=task.descriptor)
    return registry.get("dcrl_me" if isinstance(config, DCRLConfig) else "me").build(setting, config)


@dataclass
class History:
    """A run, with a copy of everything at every generation."""

    composition: Composition
    states: list[State]
    reports: list[Report]


def snapshot(state: State) -> State:
    return dataclasses.replace(state, replay=copy.deepcopy(state.replay))


def history(config: DCRLConfig | MEConfig, seed: int = 0, state: State | None = None) -> History:
    composition = compose(config)
    evaluations = (GENERATIONS + 1) * composition.batch_size + 3  # the rest is too little for a generation
    seen = [(snapshot(s), report) for s, report in training.train(composition, evaluations, seed, state=state)]
    return History(composition, [s for s, _ in seen], [report for _, report in seen])


@pytest.fixture(scope="module", params=[DCRL, ME], ids=["dcrl_me", "me"])
def config(request) -> DCRLConfig | MEConfig:
    return request.param


original = cache(history)  # played once, looked at by many


@pytest.fixture
def run(config) -> History:
    return original(config)


@pytest.fixture
def dcrl_run() -> History:
    return original(DCRL)


def leaves(state: State) -> list[np.ndarray]:
    """Everything a state holds, as arrays."""
    replay = state.replay.arrays if state.replay else ()
    counts = state.generation, state.evaluations, state.environment_steps, state.invalid
    archive = state.archive
    learned = jax.tree.leaves(state.learned)
    whole = (*counts, archive.centroids, archive.fitness, archive.descriptor, archive.genotype, *replay, *learned)
    return [np.asarray(part) for part in whole]


def assert_same(a: State, b: State) -> None:
    for one, other in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_array_equal(one, other)


def test_improvements_add_up_to_the_qd_score(run):
    score = run.reports[0].qd_score
    assert score > 0
    for state, report in zip(run.states[1:], run.reports[1:], strict=True):
        score += sum(operator.improvement for operator in report.operators)
        assert report.qd_score == pytest.approx(score, abs=1e-6)
        elites = state.archive.fitness[state.archive.occupied]
        assert report.qd_score == pytest.approx(float(elites.astype(np.float64).sum()), abs=1e-9)
        assert report.coverage == len(elites) / 64
        assert report.max_fitness == elites.max()
    assert score > run.reports[0].qd_score


def test_an_elites_fitness_never_falls(run):
    for before, after in zip(run.states, run.states[1:], strict=False):
        assert (after.archive.fitness >= before.archive.fitness).all()
        changed = (after.archive.fitness > before.archive.fitness).sum()
        added = sum(operator.added for operator in run.reports[after.generation].operators)
        assert changed == added


def test_counts_are_totals(run):
    for number, (state, report) in enumerate(zip(run.states, run.reports, strict=True)):
        assert (state.generation, report.generation) == (number, number)
        assert report.evaluations == state.evaluations == 16 * (number + 1)
        assert report.environment_steps == state.environment_steps == 16 * 50 * (number + 1)
        assert report.invalid == 0
        if state.replay is not None:
            assert state.replay.inserted == report.environment_steps
    assert len(run.reports) == GENERATIONS + 1


def test_reports_are_one_an_operator(dcrl_run):
    first, *later = dcrl_run.reports
    assert [(operator.name, operator.evaluations) for operator in first.operators] == [("ga", 0), ("pg", 0), ("ai", 0)]
    for report in later:
        assert [(o.name, o.evaluations) for o in report.operators] == [("ga", 8), ("pg", 5), ("ai", 3)]


def test_elites_can_be_replayed(run):
    """An archived policy, played again from some start, comes near to what the archive says of it."""
    archive = run.states[-1].archive
    setting, cells = run.composition.setting, np.flatnonzero(archive.occupied)
    starts = keys.each(keys.root(99), len(cells))
    again = evaluate(
        setting.simulator, setting.descriptor, archive.genotype[cells], starts, setting.layers, record=False
    )
    assert (np.abs(again.descriptor - archive.descriptor[cells]).max(axis=1) < 20 * NOISE).all()
    assert np.median(np.abs(again.fitness - archive.fitness[cells])) < 2


def test_equal_seeds_give_equal_runs_and_others_do_not(config, run):
    again = history(config)
    for a, b in zip(run.states, again.states, strict=True):
        assert_same(a, b)
    assert again.reports == run.reports
    other = history(config, seed=1)
    assert (other.states[-1].archive.genotype != run.states[-1].archive.genotype).any()
    assert other.reports[-1].qd_score != run.reports[-1].qd_score


def test_going_on_from_the_middle_equals_going_straight_on(config, run):
    resumed = history(config, state=snapshot(run.states[2]))
    assert [report.generation for report in resumed.reports] == [3, 4]
    assert resumed.reports == run.reports[3:]
    for a, b in zip(run.states[3:], resumed.states, strict=True):
        assert_same(a, b)


class Stopped(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("where", ["train", "ga", "pg", "ai", "evaluate", "add"])
def test_a_generation_that_is_stopped_leaves_no_trace(dcrl_run, where):
    state = snapshot(dcrl_run.states[1])
    seen = []

    def stage(name: str) -> None:
        seen.append(name)
        if name == where:
            raise Stopped

    with pytest.raises(Stopped):
        dcrl_run.composition.advance(state, 0, stage)
    assert seen == ["train", "ga", "pg", "ai", "evaluate", "add"][: len(seen)]
    assert_same(state, dcrl_run.states[1])
    after, report = dcrl_run.composition.advance(state, 0)
    assert report == dcrl_run.reports[2]
    assert_same(after, dcrl_run.states[2])


def final_positions(observation: np.ndarray, action: np.ndarray) -> np.ndarray:
    """(B, 2) where the point ends, from its first position and its pushes (B, 50, 2), in closed form."""
    x, v = 3 * observation[:, 0, :2].astype(np.float64), np.zeros((len(action), 2))
    for push in np.repeat(action.astype(np.float64), 2, axis=1).transpose(1, 0, 2):
        v = (v + 0.05 * push) / 1.05
        x = x + 0.05 * v
    return np.clip(x, -REACH, REACH)


def test_what_is_remembered(dcrl_run):
    """d' is what the offspring aimed at, rewards are scaled by S(d, d'): 1 for genetic offspring, less for others."""
    for number in (0, 1, 2, 3):
        replay = dcrl_run.states[number].replay
        rows = np.arange(800 * number, 800 * (number + 1)) % replay.capacity
        episode = (16, 50)
        observation, action = (a[rows].reshape(*episode, -1) for a in (replay.observation, replay.action))
        reward, target = replay.reward[rows].reshape(episode), replay.target[rows].reshape(*episode, 2)
        assert (target == target[:, :1]).all()
        achieved, wanted = final_positions(observation, action) / REACH, target[:, 0]
        plain = 1 - 0.25 * np.square(action.astype(np.float64)).sum(axis=-1)
        expected = np.exp(-10 * np.linalg.norm(achieved - wanted, axis=1))
        np.testing.assert_allclose(reward, plain * expected[:, None], atol=2e-5)
        own = slice(0, 16) if number == 0 else slice(0, 8)
        np.testing.assert_allclose(wanted[own], achieved[own], atol=1e-5)
        np.testing.assert_allclose(reward[own], plain[own], atol=2e-7)  # S = 1 exactly
        if number:
            assert (expected[8:] < 0.999).any()
            parents = {tuple(row) for row in dcrl_run.states[number - 1].archive.descriptor / np.float32(REACH)}
            nearest = [min(np.linalg.norm(np.array(p) - w) for p in parents if p[0] == p[0]) for w in wanted[8:13]]
            assert max(nearest) < 1e-6  # a climbing offspring aims at its parent's descriptor
        ends = np.zeros(episode, bool)
        ends[:, -1] = True
        np.testing.assert_array_equal(replay.truncated[rows].reshape(episode), ends)
        assert not replay.terminal.any()


def diverging(allowed: jax.Array) -> Task:
    """The point, thrown out of the world from all starts but the allowed."""
    numbers = jax.random.key_data(allowed)

    def start(key: jax.Array, qpos0: jax.Array, qvel0: jax.Array) -> tuple[jax.Array, jax.Array]:
        known = (jax.random.key_data(key) == numbers).all(axis=-1).any()
        qpos, qvel = point_omni.start(key, qpos0, qvel0)
        return qpos, jnp.where(known, qvel, jnp.inf)

    return dataclasses.replace(point_omni, name="point_diverging", start=start)


def starts_of_generation(number: int) -> jax.Array:
    return keys.each(keys.stream(keys.generation(keys.root(0), number), "start"), 16)


def test_a_generation_of_diverged_simulations_is_survived(config):
    composition = compose(config, diverging(starts_of_generation(0)))
    first, second, third = training.train(composition, 48, 0)
    (state, report), (before, begun) = second, first
    assert begun.invalid == 0
    assert begun.coverage > 0
    assert (report.invalid, report.evaluations) == (16, 32)
    assert third[1].invalid == 32
    assert report.environment_steps == begun.environment_steps + 16  # each was found out at its first step
    assert all(operator.added == 0 and operator.improvement == 0 for operator in report.operators)
    np.testing.assert_array_equal(state.archive.genotype, before.archive.genotype)
    assert report.qd_score == begun.qd_score
    if state.replay is not None:
        assert state.replay.inserted == 16 * 50
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(third[0].learned))


def test_a_run_whose_random_policies_all_diverge_ends_with_a_sentence():
    composition = compose(ME, diverging(starts_of_generation(7)))
    run = training.train(composition, 48, 0)
    _, report = next(run)
    assert (report.invalid, report.coverage, report.qd_score) == (16, 0.0, 0.0)
    assert np.isnan(report.max_fitness)
    with pytest.raises(ValueError, match="without elites: no evaluation was valid so far"):
        next(run)


@pytest.mark.parametrize(("evaluations", "expected"), [(16, 0), (31, 0), (32, 1), (160, 9)])
def test_a_budget_is_spent_on_whole_generations(evaluations, expected):
    assert training.generations(compose(ME), evaluations) == expected


def test_a_budget_below_a_batch_is_refused():
    with pytest.raises(ValueError, match="15 evaluations are fewer than one batch of 16"):
        training.generations(compose(ME), 15)
    with pytest.raises(ValueError, match="at least 16"):
        next(training.train(compose(ME), 3, 0))


@pytest.mark.parametrize(
    ("kind", "wrong", "sentence"),
    [
        (DCRLConfig, {"ga_offspring": 0}, "ga_offspring must be above 0, got 0"),
        (DCRLConfig, {"pg_offspring": -1}, "pg_offspring must be above 0, got -1"),
        (DCRLConfig, {"length_scale": 0.0}, r"length_scale must be above 0, got 0\.0"),
        (MEConfig, {"ga_offspring": 0}, "ga_offspring must be above 0, got 0"),
        (ArchiveConfig, {"cells": 0}, "cells must be at least 1"),
        (ArchiveConfig, {"cells": 100, "cvt_samples": 99}, "cvt_samples at least cells, got 100 and 99"),
    ],
)
def test_impossible_settings_are_refused(kind, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(**wrong)


def test_an_unknown_algorithm_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"'dcrl_mee'; did you mean dcrl_me\? Known algorithms: dcrl_me, me"):
        registry.get("dcrl_mee")


def random_search(composition: Composition, count: int) -> archives.Archive:
    setting = composition.setting
    genotypes = np.asarray(jax.vmap(setting.layers.init)(keys.each(keys.root(5), count)))
    starts = keys.each(keys.root(6), count)
    found = evaluate(setting.simulator, setting.descriptor, genotypes, starts, setting.layers, record=False)
    archive, _ = archives.add(
        archives.empty(composition.start(0)[0].archive.centroids, setting.layers.parameters),
        genotypes,
        found.fitness,
        found.descriptor,
    )
    return archive


def test_learning_finds_more_than_chance():
    """480 evaluations of each: random policies, MAP-Elites, DCRL-MAP-Elites."""
    learning = dataclasses.replace(
        DCRL,
        ga_offspring=16,
        pg_offspring=8,
        ai_offspring=8,
        pg=PolicyGradientConfig(policy_steps=20),
        td3=dataclasses.replace(DCRL.td3, critic_steps=300, replay_size=50_000, actor_learning_rate=1e-3),
    )
    dcrl = [report for _, report in training.train(compose(learning), 480, 0)]
    me = [report for _, report in training.train(compose(dataclasses.replace(ME, ga_offspring=32)), 480, 0)]
    chance = random_search(compose(ME), 480)
    print(f"QD score: chance {chance.qd_score:.0f}, me {me[-1].qd_score:.0f}, dcrl_me {dcrl[-1].qd_score:.0f}")
    print(f"coverage: chance {chance.coverage:.2f}, me {me[-1].coverage:.2f}, dcrl_me {dcrl[-1].coverage:.2f}")
    assert me[-1].qd_score > 1.1 * me[0].qd_score
    assert dcrl[-1].qd_score > 1.1 * chance.qd_score
    assert dcrl[-1].coverage > chance.coverage
    assert dcrl[-1].qd_score > me[-1].qd_score
    gained = {
        name: sum(o.improvement for report in dcrl for o in report.operators if o.name == name) for name in ("pg", "ai")
    }
    assert min(gained.values()) > 0
