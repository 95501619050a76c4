"""Evolution strategies and ME-ES against NumPy written out, and on a known landscape."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import optax
import pytest

from dcrl import keys
from dcrl.algorithms.me_es import MEESConfig
from dcrl.archive.novelty import novelty
from dcrl.networks.policies import Layers
from dcrl.variation.evolution_strategy import EvolutionStrategyConfig, begin, centred_ranks, gradient, samples, step
from support.by_hand import Adam
from support.generations import SMALL, compose, history, original

LAYERS = Layers((3, 4, 2))


def test_centred_ranks():
    scores = np.array([3.0, np.nan, 1.0, 3.0, -7.0])
    np.testing.assert_allclose(centred_ranks(scores), [0.25, -0.5, 0.0, 0.5, -0.25])
    assert centred_ranks(np.random.default_rng(0).normal(size=1000)).sum() == pytest.approx(0, abs=1e-3)


def test_samples_are_mirrored_and_every_layer_has_its_own_noise():
    config = EvolutionStrategyConfig(es_samples=4000)
    centre = np.linspace(-1, 1, LAYERS.parameters).astype(np.float32)
    policies, noise = samples(config, LAYERS, centre, keys.root(0))
    np.testing.assert_array_equal(policies[:2000], centre + np.float32(0.02) * noise)
    np.testing.assert_allclose(policies[:2000] + policies[2000:], np.tile(2 * centre, (2000, 1)), atol=1e-6)
    correlation = np.corrcoef(noise.T)
    np.testing.assert_allclose(correlation, np.eye(LAYERS.parameters), atol=0.1)
    assert np.abs(noise.mean(axis=0)).max() < 0.1
    np.testing.assert_allclose(noise.std(axis=0), 1, atol=0.1)


def test_a_step_equals_numpy():
    config = EvolutionStrategyConfig(es_samples=10, es_sigma=0.05, es_learning_rate=0.03, es_l2=0.1)
    random = np.random.default_rng(1)
    search = begin(config, random.normal(size=LAYERS.parameters).astype(np.float32), np.zeros(0, np.int64))
    adam, centre = Adam(0.03), search.centre.astype(np.float64)
    for number in range(4):
        _, noise = samples(config, LAYERS, search.centre, keys.root(number))
        scores = random.normal(size=10)
        order = sorted(range(10), key=lambda i, scores=scores: scores[i])
        rank = {i: place / 9 - 0.5 for place, i in enumerate(order)}
        descent = -sum((rank[i] - rank[i + 5]) * noise[i].astype(np.float64) for i in range(5)) / (10 * 0.05)
        np.testing.assert_allclose(gradient(config, search.centre, noise, scores), descent + 0.1 * centre, atol=1e-4)
        centre = centre + adam.step(descent + 0.1 * centre)
        search = step(config, search, noise, scores)
        np.testing.assert_allclose(search.centre, centre, atol=1e-5)


def test_on_a_quadratic_it_climbs_as_gradient_ascent_would():
    """Ranks make the gradient's length a matter of taste, so Adam, which does not care, stands on both sides."""
    config = EvolutionStrategyConfig(es_samples=1000, es_l2=0.0, es_learning_rate=0.05)
    summit = np.random.default_rng(2).normal(size=LAYERS.parameters).astype(np.float32)

    def fitness(policies: np.ndarray) -> np.ndarray:
        return -np.square(policies - summit).sum(axis=-1)

    search = begin(config, np.zeros(LAYERS.parameters, np.float32), np.zeros(0, np.int64))
    ascent = np.zeros(LAYERS.parameters, np.float32)
    optimiser = optax.adam(0.05)
    memory = optimiser.init(ascent)
    ours, exact = [], []
    for number in range(60):
        policies, noise = samples(config, LAYERS, search.centre, keys.root(number))
        search = step(config, search, noise, fitness(policies))
        change, memory = optimiser.update(2 * (ascent - summit), memory)
        ascent = ascent + np.asarray(change)
        ours.append(fitness(search.centre))
        exact.append(fitness(ascent))
    begin_at = fitness(np.zeros(LAYERS.parameters))
    assert ours[-1] > 0.05 * begin_at
    np.testing.assert_allclose(np.array(ours[:30]) / begin_at, np.array(exact[:30]) / begin_at, atol=0.1)


def test_blocks_alternate_and_start_from_elites():
    """generations_per_parent is 2: novelty, novelty, fitness, fitness."""
    run = original(SMALL["me_es"])
    config = run.algorithm.config
    for before, after in itertools.pairwise(run.states):
        number = before.generation
        fresh = number % 2 == 0
        count = int(np.asarray(after.search.optimiser[0].count))
        assert count == (1 if fresh else 2)
        assert len(after.novelty) == number + 2
        if not fresh:
            moved = np.abs(after.search.centre - before.search.centre).max()
            assert 0 < moved < 3 * config.es.es_learning_rate


def candidates(run, state, exploring: bool) -> set[int]:
    """The cells from which parents were drawn in many tries, at the start of a block."""
    begun = dataclasses.replace(state, generation=1 if exploring else 1 + run.algorithm.config.generations_per_parent)
    return {run.algorithm._parent(begun, keys.root(number)) for number in range(60)}


def test_parents_are_the_most_novel_or_the_fittest():
    config = dataclasses.replace(SMALL["me_es"], explore_parents=3, exploit_parents=2, recent_cells=3)
    run = history(config)
    archive = run.states[-1].archive
    centroids = archive.centroids
    fitness = np.full(64, -np.inf, np.float32)
    fitness[10:20] = np.arange(10)
    descriptor = np.where(fitness[:, None] > -np.inf, centroids, np.nan).astype(np.float32)
    archive = dataclasses.replace(archive, fitness=fitness, descriptor=descriptor)
    search = run.states[-1].search._replace(recent=np.array([11, 14, 12]))
    state = dataclasses.replace(run.states[-1], archive=archive, search=search)
    values = novelty(state.novelty, descriptor[10:20], config.novelty_neighbours)
    assert candidates(run, state, True) == {10 + int(i) for i in np.argsort(-values)[:3]}
    assert candidates(run, state, False) == {18, 19} | {14, 12}


def test_the_centre_is_the_mean_of_its_episodes():
    run = original(SMALL["me_es"])
    state = run.states[0]
    cell = int(np.flatnonzero(state.archive.occupied)[0])
    asked = run.algorithm.ask(run.algorithm.empty_state(0), 0)
    assert (asked.genotype == state.search.centre).all()
    episodes = run.algorithm.setting.evaluate(asked)
    assert len(np.unique(episodes.fitness)) > 1
    assert state.archive.fitness[cell] == pytest.approx(episodes.fitness.mean(), rel=1e-6)
    np.testing.assert_allclose(state.archive.descriptor[cell], episodes.descriptor.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "wrong", "sentence"),
    [
        (EvolutionStrategyConfig, {"es_samples": 7}, "es_samples must be even, got 7"),
        (
            EvolutionStrategyConfig,
            {"es_sigma": 0.0},
            r"es_sigma must be above 0 and finite, got 0\.0",
        ),
        (MEESConfig, {"evaluations_of_centre": 0}, "evaluations_of_centre must be a whole number of at least 1, got 0"),
    ],
)
def test_impossible_settings_are_refused(kind, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(**wrong)


def test_the_papers_settings():
    config = MEESConfig()
    assert compose(config).generation_evaluations == 1030
    assert (config.es.es_samples, config.es.es_sigma, config.es.es_learning_rate, config.es.es_l2) == (
        1000,
        0.02,
        0.01,
        0.02,
    )
