"""How the baselines and ablations differ, and MAP-Elites against pyribs' on the point."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from ribs.archives import CVTArchive
from ribs.emitters import IsoLineEmitter

from dcrl import keys
from dcrl.algorithms import registry
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.algorithms.qd_pg import QDPGConfig
from dcrl.archive.centroids import centroids
from dcrl.archive.novelty import diversity_reward
from dcrl.networks.perceptrons import initial_policies
from dcrl.runs.training import iterate
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks.point import REACH, point_omni
from dcrl.variation.operator import Sources
from support.by_hand import vector
from support.generations import ARCHIVE, SMALL, compose, history, original


@pytest.mark.parametrize("name", ["pga_me", "qd_pg"])
def test_unconditioned_actors_start_as_the_first_random_policy(name):
    run = original(SMALL[name])
    state, archive = run.states[0], run.states[0].archive
    for learned in state.learned:
        actor = vector(learned.actor.online).astype(np.float32)
        np.testing.assert_array_equal(actor, vector(learned.actor.target))
        assert (archive.genotype == actor).all(axis=1).any() or len(archive.fitness[archive.occupied]) < 16
    assert state.replay.target.shape[1] == 0
    assert all(learner.descriptor_size == 0 for learner in run.algorithm.learners)


def test_the_greedy_actor_is_the_last_of_pga_mes_offspring():
    run = original(SMALL["pga_me"])
    *_, operator = run.algorithm.operators
    sources = Sources(archive=run.states[1].archive, learned=run.states[1].learned, replay=run.states[1].replay)
    offspring = operator.vary(sources, keys.root(0))
    actor = vector(run.states[1].learned[0].actor.online)
    np.testing.assert_array_equal(offspring.genotype, actor[None].astype(np.float32))
    assert np.isnan(offspring.target).all()


def test_unconditioned_rewards_are_stored_as_they_are():
    replay = original(SMALL["pga_me"]).states[1].replay
    pushes = replay.action[: replay.size].astype(np.float64)
    np.testing.assert_allclose(replay.reward[: replay.size], 1 - 0.25 * np.square(pushes).sum(axis=1), atol=1e-5)


def test_qd_pg_learns_quality_and_diversity_from_one_buffer():
    run = original(SMALL["qd_pg"])
    quality, diversity = run.algorithm.learners
    assert (quality.reward, diversity.reward) == ("task", "novelty")
    assert (quality.config.critic_steps, diversity.config.critic_steps) == (20, 8)
    first, second = run.states[2].learned
    assert not np.array_equal(vector(first.actor.online), vector(second.actor.online))
    counts = [int(learned.critics[0].optimiser[0].count) for learned in run.states[2].learned]
    assert counts == [40, 16]
    default = QDPGConfig()
    assert (default.td3.critic_steps, default.diversity_critic_steps) == (3000, 300)


def test_the_diversity_reward_is_that_of_the_states_a_row_starts_from():
    run = original(SMALL["qd_pg"])
    state = run.states[2]
    index = np.random.default_rng(0).integers(0, state.replay.size, (3, 2, 5))
    rewards = run.algorithm.novelty.relabel(state)(state.replay.gather(index), index).reward
    assert rewards.shape == index.shape
    assert len(state.novelty) > 5
    for row, reward in zip(index.reshape(-1), rewards.reshape(-1), strict=True):
        here = np.clip(state.replay.observation[row, :2] * REACH, -REACH, REACH)
        expected = np.sort(np.square(state.novelty - here).sum(axis=1))[:5].mean()
        assert reward == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_stored_step_descriptors_give_the_same_rewards_as_those_computed_from_observations():
    config = dataclasses.replace(SMALL["qd_pg"])
    storing = compose(config, dataclasses.replace(point_omni, descriptor_from_observation=None))
    state, _ = storing.start(0)
    computing = original(config).states[0]
    np.testing.assert_array_equal(state.novelty, computing.novelty)
    index = np.arange(100).reshape(2, 50)
    stored, computed = (
        algorithm.novelty.relabel(each)(each.replay.gather(index), index).reward
        for algorithm, each in ((storing, state), (original(config).algorithm, computing))
    )
    np.testing.assert_allclose(stored, computed, rtol=1e-4, atol=1e-6)
    assert np.isfinite(diversity_reward(state.novelty, state.novelty, 5)).all()


def test_dcg_mes_actor_evaluations_only_feed_the_buffer():
    """The first generation with and without them has the same offspring, the same archive, and more transitions."""
    probing = original(SMALL["dcg_me"])
    alone = history(dataclasses.replace(SMALL["dcg_me"], actor_evaluations=None))
    for part in ("fitness", "descriptor", "genotype"):
        np.testing.assert_array_equal(getattr(probing.states[1].archive, part), getattr(alone.states[1].archive, part))
    assert probing.states[1].evaluations == alone.states[1].evaluations + 4
    assert probing.states[1].replay.inserted == alone.states[1].replay.inserted + 4 * 50
    report = probing.reports[1].operators[-1]
    assert (report.name, report.evaluations, report.added, report.improvement) == ("actor", 4, 0, 0.0)
    rows = slice(probing.states[0].replay.inserted + 16 * 50, probing.states[1].replay.inserted)
    elites = probing.states[0].archive.descriptor / np.float32(REACH)
    aims = np.unique(probing.states[1].replay.target[rows], axis=0)
    assert len(aims) > 1
    assert all(np.nanmin(np.abs(elites - aim).max(axis=1)) < 1e-6 for aim in aims)


def test_the_ablations_are_configurations_of_dcrl_me():
    paper = DCRLConfig()
    shared = {"pg_offspring": 128, "ai_offspring": None}
    assert registry.get("ablation_ai").default == dataclasses.replace(paper, **shared)
    assert registry.get("ablation_actor").default == dataclasses.replace(paper, **shared, conditioned_actor=False)
    assert registry.get("dcg_me").default == dataclasses.replace(paper, **shared, actor_evaluations=64)
    assert {registry.get(name).build for name in ("dcrl_me", "dcg_me", "ablation_ai", "ablation_actor")} == {
        registry.get("dcrl_me").build
    }


def test_an_ablated_actor_does_not_see_descriptors_but_its_critic_does():
    algorithm = original(SMALL["ablation_actor"]).algorithm
    (learner,) = algorithm.learners
    learned = original(SMALL["ablation_actor"]).states[2].learned[0]
    seen, random = np.ones((2, 5), np.float32), np.random.default_rng(0)
    one, other = (random.uniform(-1, 1, (2, 2)).astype(np.float32) for _ in range(2))
    actor, critic = learned.actor.online, learned.critics[0].online
    np.testing.assert_array_equal(learner.policy(actor, seen, one), learner.policy(actor, seen, other))
    pushes = np.zeros((2, 2), np.float32)
    assert (learner.value(critic, seen, pushes, one) != learner.value(critic, seen, pushes, other)).all()


def coverage_of_pyribs(seed: int, batch: int, evaluations: int) -> float:
    """pyribs' archive and emitter, on our centroids, from our initial policies, played by our simulator."""
    algorithm = compose(MEConfig(ga_offspring=batch, archive=ARCHIVE))
    setting = algorithm.setting
    cells = centroids(setting.descriptor, ARCHIVE.cells, ARCHIVE.cvt_samples, seed)
    parameters = setting.layers.parameters
    archive = CVTArchive(
        solution_dim=parameters,
        centroids=cells.astype(np.float64),
        ranges=[(-REACH, REACH)] * 2,
        nearest_neighbors="brute_force",
    )
    emitter = IsoLineEmitter(
        archive, iso_sigma=0.005, line_sigma=0.05, x0=np.zeros(parameters), batch_size=batch, seed=seed
    )
    policies = initial_policies(setting.layers, seed, batch)
    for number in range(evaluations // batch):
        starts = keys.each(keys.stream(keys.root(seed), f"peer {number}"), batch)
        found = evaluate(
            setting.simulator, setting.descriptor, policies.astype(np.float32), starts, setting.layers, record=False
        )
        archive.add(policies, found.fitness, found.descriptor)
        policies = emitter.ask()
    return float(archive.stats.coverage)


@pytest.mark.slow
def test_map_elites_covers_as_much_as_pyribs():
    """Five seeds each, 32 a batch, 1,600 evaluations: medians within the larger of the two spreads."""
    seeds = range(5)
    ours, algorithm = [], compose(MEConfig(ga_offspring=32, archive=ARCHIVE))
    for seed in seeds:
        *_, (_, report) = iterate(algorithm, 1600, seed)
        ours.append(report.coverage)
    peers = [coverage_of_pyribs(seed, 32, 1600) for seed in seeds]
    spread = max(np.ptp(ours), np.ptp(peers))
    print(f"coverage: ours {sorted(ours)}, pyribs {sorted(peers)}")
    assert abs(np.median(ours) - np.median(peers)) <= spread
    assert min(ours) > 0.2
