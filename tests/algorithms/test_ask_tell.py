"""Ask and tell: every algorithm advances by them, however the evaluations are split, and refuses what does not fit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dcrl.types import Evaluation, Transitions
from support.generations import DCRL, ME, SMALL, assert_same, compose, original, snapshot


def part(evaluation: Evaluation, rows: slice) -> Evaluation:
    """Some of the episodes of an evaluation."""

    def taken(value: Any) -> Any:
        return dataclasses.replace(value, **{f.name: cut(getattr(value, f.name)) for f in dataclasses.fields(value)})

    def cut(value: Any) -> Any:
        return taken(value) if isinstance(value, Transitions) else value if value is None else value[rows]

    return taken(evaluation)


@pytest.mark.parametrize("name", SMALL)
def test_a_run_by_ask_and_tell_is_the_run_by_advance(name):
    run = original(SMALL[name])
    algorithm, reports, asked_for = run.algorithm, [], 0
    state = algorithm.empty_state(0)
    while len(reports) < 3:
        asked = algorithm.ask(state, 0)
        asked_for += len(asked.genotype)
        evaluation = algorithm.setting.evaluate(asked)
        cut = len(asked.genotype) // 3
        state, report = algorithm.tell(asked, [part(evaluation, slice(0, cut)), part(evaluation, slice(cut, None))])
        assert state.evaluations == asked_for
        if report is not None:
            assert_same(snapshot(state), run.states[len(reports)])
            reports.append(report)
    assert reports == run.reports[:3]


def test_asking_again_gives_the_same_policies():
    run = original(DCRL)
    state = snapshot(run.states[1])
    one, two = run.algorithm.ask(state, 0), run.algorithm.ask(state, 0)
    np.testing.assert_array_equal(one.genotype, two.genotype)
    np.testing.assert_array_equal(one.seeds, two.seeds)
    assert len(set(one.seeds.tolist())) == len(one.genotype) == 16
    assert_same(state, run.states[1])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda e: part(e, slice(0, 9)), "16 policies were asked for, one episode each, got the evaluations of 9"),
        (lambda e: dataclasses.replace(e, transitions=None), "learns from transitions: give the evaluations with them"),
        (
            lambda e: dataclasses.replace(e, descriptor=e.descriptor[:, :1]),
            r"the descriptor of 16 episodes must be an array of shape \(16, 2\), got \(16, 1\)",
        ),
        (
            lambda e: dataclasses.replace(e, fitness=np.full(16, np.inf)),
            "a valid episode has a finite fitness and descriptor; set `valid` to False for the others",
        ),
    ],
)
def test_evaluations_that_do_not_fit_are_refused_and_change_nothing(wrong, sentence):
    run = original(DCRL)
    state = snapshot(run.states[1])
    asked = run.algorithm.ask(state, 0)
    evaluation = run.algorithm.setting.evaluate(asked)
    with pytest.raises(ValueError, match=sentence):
        run.algorithm.tell(asked, [wrong(evaluation)])
    assert_same(state, run.states[1])
    after, _ = run.algorithm.tell(asked, [evaluation])
    assert_same(after, run.states[2])


def test_invalid_episodes_are_counted_and_not_added():
    algorithm = compose(ME)
    asked = algorithm.ask(algorithm.empty_state(0), 0)
    evaluation = algorithm.setting.evaluate(asked)
    nothing = dataclasses.replace(
        evaluation,
        valid=np.zeros(16, bool),
        fitness=np.full(16, np.nan, np.float32),
        descriptor=np.full((16, 2), np.nan, np.float32),
    )
    state, report = algorithm.tell(asked, [nothing])
    assert report is not None
    assert (report.invalid, report.coverage, state.evaluations) == (16, 0.0, 16)
