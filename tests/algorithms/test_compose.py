"""A generation of DCRL-MAP-Elites on the point: reports, stopping, what is remembered, budgets, learning."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcrl.algorithms import registry
from dcrl.algorithms.algorithm import ArchiveConfig, generations
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.learners.replay import TERMINAL, TRUNCATED
from dcrl.runs.training import iterate
from dcrl.tasks.point import REACH
from dcrl.variation.iso_line import IsoLineConfig
from dcrl.variation.policy_gradient import PolicyGradientConfig
from support.generations import DCRL, ME, SMALL, History, assert_same, compose, original, random_search, snapshot


@pytest.fixture
def dcrl_run() -> History:
    return original(DCRL)


def test_reports_are_one_an_operator(dcrl_run):
    first, *later = dcrl_run.reports
    assert [(operator.name, operator.evaluations) for operator in first.operators] == [("ga", 0), ("pg", 0), ("ai", 0)]
    for report in later:
        assert [(o.name, o.evaluations) for o in report.operators] == [("ga", 8), ("pg", 5), ("ai", 3)]


class Stopped(Exception):  # noqa: N818
    pass


STAGES = ("train", "pg", "ai", "evaluate", "add")  # genetic offspring are simulated during training


@pytest.mark.parametrize("where", STAGES)
def test_a_generation_that_is_stopped_leaves_no_trace(dcrl_run, where):
    state = snapshot(dcrl_run.states[1])
    seen = []

    def stage(name: str) -> None:
        seen.append(name)
        if name == where:
            raise Stopped

    with pytest.raises(Stopped):
        dcrl_run.algorithm.advance(state, 0, stage)
    assert tuple(seen) == STAGES[: len(seen)]
    assert_same(state, dcrl_run.states[1])
    after, report = dcrl_run.algorithm.advance(state, 0)
    assert report == dcrl_run.reports[2]
    assert_same(after, dcrl_run.states[2])


@pytest.mark.parametrize("name", ["dcrl_me", "dcg_me", "qd_pg"])
def test_playing_beside_the_training_changes_nothing(name):
    run = original(SMALL[name])
    seen = []
    apart = dataclasses.replace(run.algorithm, overlap=False)
    after, report = apart.advance(snapshot(run.states[1]), 0, seen.append)
    assert seen[:2] == ["train", "ga"]
    assert report == run.reports[2]
    assert_same(after, run.states[2])


def test_all_offspring_may_be_played_beside_the_training(dcrl_run):
    genetic = tuple(operator for operator in dcrl_run.algorithm.operators if not operator.needs_training)
    alone = dataclasses.replace(dcrl_run.algorithm, operators=genetic)
    apart = dataclasses.replace(alone, overlap=False)
    seen = []
    after, report = alone.advance(snapshot(dcrl_run.states[1]), 0, seen.append)
    assert seen == ["train", "add"]
    assert [each.evaluations for each in report.operators] == [genetic[0].count]
    expected, same = apart.advance(snapshot(dcrl_run.states[1]), 0)
    assert report == same
    assert_same(after, expected)


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
        np.testing.assert_array_equal((replay.flags[rows] == TRUNCATED).reshape(episode), ends)
        assert not (replay.flags & TERMINAL).any()


def test_policy_gradients_can_aim_at_empty_cells():
    """`pg_target` reaches the operator, and the targets reach the replay buffer as d'."""
    run = original(dataclasses.replace(DCRL, pg_target="empty"))
    before, replay = run.states[1].archive, run.states[2].replay
    rows = np.arange(800 * 2, 800 * 3) % replay.capacity
    wanted = replay.target[rows].reshape(16, 50, 2)[8:13, 0] * np.float32(REACH)
    empty = before.centroids[~before.occupied]
    assert len(empty)
    assert np.abs(wanted[:, None] - empty).max(axis=2).min(axis=1).max() < 1e-5
    with pytest.raises(ValueError, match="pg_target must be parent or neighbour or empty, got 'far'"):
        dataclasses.replace(DCRL, pg_target="far")


@pytest.mark.parametrize(("evaluations", "expected"), [(16, 0), (31, 0), (32, 1), (160, 9)])
def test_a_budget_is_spent_on_whole_generations(evaluations, expected):
    assert generations(compose(ME), evaluations) == expected


def test_a_budget_below_a_batch_is_refused():
    with pytest.raises(ValueError, match="15 evaluations are fewer than one batch of 16"):
        generations(compose(ME), 15)
    with pytest.raises(ValueError, match="at least 16"):
        next(iterate(compose(ME), 3, 0))


@pytest.mark.parametrize(
    ("kind", "wrong", "sentence"),
    [
        (DCRLConfig, {"ga_offspring": 0}, "ga_offspring must be a whole number of at least 1, got 0"),
        (DCRLConfig, {"pg_offspring": -1}, "pg_offspring must be a whole number of at least 1, got -1"),
        (DCRLConfig, {"ai_offspring": 0}, "ai_offspring must be a whole number of at least 1, or None for none, got 0"),
        (
            DCRLConfig,
            {"actor_evaluations": -3},
            "actor_evaluations must be a whole number of at least 1, or None for none, got -3",
        ),
        (DCRLConfig, {"conditioned_actor": False}, "set ai_offspring to None or conditioned_actor to True"),
        (DCRLConfig, {"length_scale": 0.0}, r"length_scale must be above 0 and finite, got 0\.0"),
        (MEConfig, {"ga_offspring": 0}, "ga_offspring must be a whole number of at least 1, got 0"),
        (ArchiveConfig, {"cells": 0}, "cells must be a whole number of at least 1"),
        (ArchiveConfig, {"cells": 100, "cvt_samples": 99}, "cvt_samples must be at least cells, got 99 and 100"),
    ],
)
def test_impossible_settings_are_refused(kind, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(**wrong)


def test_an_unknown_algorithm_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"'dcrl_mee'; did you mean dcrl_me\? Known algorithms: dcrl_me, dcg_me"):
        registry.get("dcrl_mee")


@pytest.mark.slow
def test_learning_finds_more_than_chance():
    """480 evaluations of each: random policies, MAP-Elites, DCRL-MAP-Elites."""
    learning = dataclasses.replace(
        DCRL,
        ga_offspring=16,
        pg_offspring=8,
        ai_offspring=8,
        ga=IsoLineConfig(),
        pg=PolicyGradientConfig(policy_steps=20),
        td3=dataclasses.replace(DCRL.td3, critic_steps=300, replay_size=50_000, actor_learning_rate=1e-3),
    )
    dcrl = [report for _, report in iterate(compose(learning), 480, 0)]
    me = [
        report for _, report in iterate(compose(dataclasses.replace(ME, ga_offspring=32, ga=IsoLineConfig())), 480, 0)
    ]
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
