"""Every registered algorithm on the point: the archive's laws, counts, determinism, resuming, divergence, learning."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from dcrl import keys
from dcrl.algorithms import registry
from dcrl.archive.centroids import centroids
from dcrl.networks.perceptrons import initial_policies
from dcrl.runs.training import iterate
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks.point import NOISE, point_omni
from support.generations import (
    GENERATIONS,
    SMALL,
    History,
    assert_same,
    compose,
    diverging,
    history,
    original,
    random_search,
    snapshot,
    starts_of_generation,
)


@pytest.fixture(scope="module", params=SMALL)
def config(request) -> Any:
    return SMALL[request.param]


@pytest.fixture
def run(config) -> History:
    return original(config)


def test_every_algorithm_is_tried_here():
    assert list(SMALL) == list(registry.ALGORITHMS)
    for name, config in SMALL.items():
        assert isinstance(config, registry.get(name).config)


def test_one_seed_gives_every_algorithm_the_same_centroids_and_initial_policies(run):
    archive = run.states[0].archive
    np.testing.assert_array_equal(archive.centroids, centroids(point_omni.descriptor, 64, 1000, seed=0))
    policies = initial_policies(run.algorithm.setting.layers, 0, 16)
    elites = archive.genotype[archive.occupied]
    assert len(elites) > 0
    assert all((policies == elite).all(axis=1).any() for elite in elites)


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
    initial, each = run.algorithm.initial_evaluations, run.algorithm.generation_evaluations
    for number, (state, report) in enumerate(zip(run.states, run.reports, strict=True)):
        assert (state.generation, report.generation) == (number, number)
        assert report.evaluations == state.evaluations == initial + each * number
        assert report.environment_steps == state.environment_steps == 50 * report.evaluations
        assert report.invalid == 0
        assert [operator.name for operator in report.operators] == list(run.algorithm.operator_names)
        assert sum(operator.evaluations for operator in report.operators) == (each if number else 0)
        if run.algorithm.learners:
            assert state.replay.inserted == report.environment_steps
    assert len(run.reports) == GENERATIONS + 1


@pytest.mark.parametrize(
    ("name", "initial", "operators"),
    [
        ("dcrl_me", 256, "128 ga + 64 pg + 64 ai"),
        ("dcg_me", 256, "128 ga + 128 pg + 64 actor for data only"),
        ("pga_me", 256, "128 ga + 127 pg + 1 actor"),
        ("qd_pg", 256, "86 ga + 84 quality_pg + 1 quality_actor + 84 diversity_pg + 1 diversity_actor"),
        ("me_es", 30, "1000 es samples + 30 of the new centre"),
        ("me", 256, "256 ga"),
        ("ablation_ai", 256, "128 ga + 128 pg"),
        ("ablation_actor", 256, "128 ga + 128 pg"),
        ("ascii_me", 256, "128 ga + 128 ascii"),
    ],
)
def test_the_papers_generation(name, initial, operators):
    algorithm = compose(registry.get(name).default)
    assert (algorithm.initial_evaluations, algorithm.plan) == (initial, operators)
    assert algorithm.generation_evaluations == sum(int(part.split()[0]) for part in operators.split(" + "))


def test_elites_can_be_replayed(run):
    """An archived policy, played again from some start, comes near to what the archive says of it."""
    archive = run.states[-1].archive
    setting, cells = run.algorithm.setting, np.flatnonzero(archive.occupied)
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


def test_resuming_in_the_middle_equals_an_uninterrupted_run(config, run):
    resumed = history(config, state=snapshot(run.states[2]))
    assert [report.generation for report in resumed.reports] == [3, 4]
    assert resumed.reports == run.reports[3:]
    for a, b in zip(run.states[3:], resumed.states, strict=True):
        assert_same(a, b)


def test_a_generation_of_diverged_simulations_is_survived(config):
    algorithm = compose(config, diverging(starts_of_generation(0)))
    initial, each = algorithm.initial_evaluations, algorithm.generation_evaluations
    first, second, third = iterate(algorithm, initial + 2 * each, 0)
    (state, report), (before, begun) = second, first
    assert begun.invalid == 0
    assert begun.coverage > 0
    assert (report.invalid, report.evaluations) == (each, initial + each)
    assert third[1].invalid == 2 * each
    assert report.environment_steps == begun.environment_steps + each  # each was found out at its first step
    assert all(operator.added == 0 and operator.improvement == 0 for operator in report.operators)
    np.testing.assert_array_equal(state.archive.genotype, before.archive.genotype)
    assert report.qd_score == begun.qd_score
    if algorithm.learners:
        assert state.replay.inserted == 50 * initial
    finite = jax.tree.leaves((third[0].learned, third[0].novelty, third[0].search))
    assert all(np.isfinite(leaf).all() for leaf in finite)


def test_a_run_whose_random_policies_all_diverge_ends_with_a_sentence(config):
    algorithm = compose(config, diverging(starts_of_generation(7)))
    initial = algorithm.initial_evaluations
    run = iterate(algorithm, initial + 2 * algorithm.generation_evaluations, 0)
    _, report = next(run)
    assert (report.invalid, report.coverage, report.qd_score) == (initial, 0.0, 0.0)
    assert np.isnan(report.max_fitness)
    with pytest.raises(ValueError, match="without elites: no evaluation was valid so far"):
        next(run)


def test_an_algorithm_finds_more_than_chance(config):
    """In 20 generations, than random policies, as many as were offered to its archive."""
    algorithm = compose(config)
    evaluations = algorithm.initial_evaluations + 20 * algorithm.generation_evaluations
    *_, (state, report) = iterate(algorithm, evaluations, 0)
    chance = random_search(algorithm, 21 * (algorithm.initial_evaluations if not len(state.search.centre) else 1))
    print(f"QD score: chance {chance.qd_score:.0f}, found {report.qd_score:.0f}")
    assert report.qd_score > 1.2 * chance.qd_score
