"""Lagged overlap: offspring of the networks before, the same with and without overlap, and resumed exactly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcrl import simulators
from dcrl.tasks.point import point_omni
from support.generations import DCRL, assert_same, compose, history, original, snapshot, trial

LAGGED = dataclasses.replace(DCRL, overlap="lagged")
FASTER_CRITIC = dataclasses.replace(LAGGED, td3=dataclasses.replace(LAGGED.td3, critic_learning_rate=0.01))


def same_archive(one, other) -> bool:
    return np.array_equal(one.archive.genotype, other.archive.genotype)


def test_offspring_come_from_the_networks_of_the_generation_before():
    """Training in generation 1 reaches the archive in generation 2; without lag, in generation 1."""
    slow, fast = original(LAGGED), original(FASTER_CRITIC)
    assert same_archive(slow.states[1], fast.states[1])
    first_kernels = [run.states[1].learned[0].critics[0].online[0][0] for run in (slow, fast)]
    assert (first_kernels[0] != first_kernels[1]).any()  # though the networks were trained, and differ
    assert not same_archive(slow.states[2], fast.states[2])
    unlagged = [original(dataclasses.replace(config, overlap="same")) for config in (LAGGED, FASTER_CRITIC)]
    assert not same_archive(*(run.states[1] for run in unlagged))
    assert_same(slow.states[0], unlagged[0].states[0])


def test_overlap_does_not_change_results():
    run = original(LAGGED)
    alone = dataclasses.replace(compose(LAGGED), overlap=False)
    state = snapshot(run.states[1])
    for number in (2, 3):
        state, report = alone.advance(state, 0)
        assert report == run.reports[number]
        assert_same(state, run.states[number])


def test_threads_do_not_change_results():
    run = original(LAGGED)
    with simulators.make(point_omni, "mujoco", 2) as simulator:
        state, report = trial(LAGGED).algorithm(simulator).advance(snapshot(run.states[1]), 0)
    assert report == run.reports[2]
    assert_same(state, run.states[2])


def test_asking_and_telling_is_the_same():
    run = original(LAGGED)
    asked = run.algorithm.ask(snapshot(run.states[1]), 0)
    state, report = run.algorithm.tell(asked, [run.algorithm.setting.evaluate(asked)])
    assert report == run.reports[2]
    assert_same(state, run.states[2])


def test_a_lagged_run_resumes_exactly():
    run = original(LAGGED)
    resumed = history(LAGGED, state=snapshot(run.states[2]))
    assert resumed.reports == run.reports[3:]
    assert_same(resumed.states[-1], run.states[-1])


def test_only_the_two_ways_exist():
    with pytest.raises(ValueError, match="overlap must be same or lagged, got 'late'"):
        dataclasses.replace(DCRL, overlap="late")
