"""Runs collected, aligned and compared: known answers from synthetic runs, and all that can be wrong with them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from dcrl.analysis.collection import collect
from dcrl.analysis.comparison import Value, at, budgets, curve, family, split, time_curve, values
from dcrl.analysis.operators import contributions, cumulative, group_curve
from dcrl.runs.lock import Lock
from dcrl.tasks.catalogue import PAPER
from support.synthetic import OPERATORS, write_run

TASKS = tuple(PAPER)


def compared(runs):
    common = budgets(runs)
    return values(split(runs, common)[0], common)


def test_the_papers_family_of_147_tests(tmp_path):
    random = np.random.default_rng(0)
    scores = {}
    for task in TASKS:
        for place, algorithm in enumerate(OPERATORS):
            for seed in range(4):
                scores[task, algorithm, seed] = score = random.normal(1000 - 20 * place, 30)
                write_run(tmp_path, task, algorithm, seed, score, generations=1)
    runs = collect([tmp_path])
    assert runs.remarks == ()
    tests = family(compared(runs), "dcrl_me")
    assert len(tests) == 7 * 7 * 3 == 147
    expected = []
    for test in tests:
        scale = {"qd_score": 1, "coverage": 1e-6, "max_fitness": 1e-2}[test.metric]
        one, other = ([scale * scores[test.task, name, seed] for seed in range(4)] for name in ("dcrl_me", test.other))
        expected.append(stats.mannwhitneyu(one, other).pvalue)
        assert test.found.p == pytest.approx(expected[-1])
        assert test.found.difference == pytest.approx(np.median(one) - np.median(other))
    assert [test.corrected_p for test in tests] == pytest.approx(multipletests(expected, method="holm")[1])


def test_tasks_and_algorithms_come_in_the_papers_order(tmp_path):
    for task in ("point_omni", "walker2d_uni", "ant_omni"):
        for algorithm in ("me_es", "me", "dcrl_me"):
            write_run(tmp_path, task, algorithm, 0, 1.0)
    runs = collect([tmp_path])
    assert runs.tasks == ("ant_omni", "walker2d_uni", "point_omni")
    assert runs.series == ("dcrl_me", "me", "me_es")


def test_a_metric_is_that_of_the_last_generation_that_ended_by_then(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0)
    (record,) = collect([tmp_path]).records
    assert at(record, "qd_score", np.array([99, 100, 299, 300, 10**6])).tolist() == pytest.approx(
        [np.nan, 0, 100, 200, 900], nan_ok=True
    )


def test_a_curve_is_the_median_and_quartiles_of_the_runs_where_all_of_them_are(tmp_path):
    for seed, final in enumerate((900.0, 1800.0, 4500.0)):
        write_run(tmp_path, "point_omni", "me", seed, final, generations=9 if seed else 6)
    drawn = curve(collect([tmp_path]).records, "qd_score")
    assert drawn.runs == 3
    np.testing.assert_array_equal(drawn.x, np.arange(100, 701, 100))
    rows = np.stack([np.linspace(0, 900, 7), np.linspace(0, 1800, 10)[:7], np.linspace(0, 4500, 10)[:7]])
    np.testing.assert_allclose(drawn.median, np.median(rows, axis=0))
    np.testing.assert_allclose(drawn.lower_quartile, np.quantile(rows, 0.25, axis=0))
    np.testing.assert_allclose(drawn.upper_quartile, np.quantile(rows, 0.75, axis=0))


def test_over_time_a_run_that_has_ended_keeps_its_value_and_the_median_has_an_interval(tmp_path):
    for seed, (final, seconds) in enumerate(((900.0, 1.0), (1800.0, 2.0), (4500.0, 3.0))):
        write_run(tmp_path, "point_omni", "me", seed, final, seconds=seconds)
    records = collect([tmp_path]).records
    drawn = time_curve(records, "qd_score")
    assert drawn.x[-1] == 27
    assert drawn.median[-1] == 1800
    at_nine = int(np.flatnonzero(drawn.x == 9)[0])
    assert drawn.median[at_nine] == np.median([900, 4 * 200, 3 * 500]) == 900
    # of 27 resamples of three runs 7 have the lowest as their median, and 7 the highest
    assert (drawn.low[-1], drawn.high[-1]) == (900, 4500)
    assert time_curve(records[:2], "qd_score").interval is None


def test_a_series_that_ends_before_its_slowest_run_begins_is_drawn_over_time(tmp_path):
    fast = write_run(tmp_path, "point_omni", "me", 0, 900.0, seconds=0.1)
    slow = write_run(tmp_path, "point_omni", "me", 1, 900.0, seconds=5.0)
    rows = (slow / "metrics.csv").read_text().replace("0,100,0.0,", "0,100,4.0,", 1)
    (slow / "metrics.csv").write_text(rows)
    assert len(time_curve(collect([fast, slow]).records, "qd_score").x) > 5


def test_lower_is_better_for_the_expected_distance():
    def distances(series, values):
        return [
            Value(task="t", series=series, seed=s, metric="expected_distance", evaluations=1, value=v)
            for s, v in enumerate(values)
        ]

    (test,) = family([*distances("dcrl_me", (0.1, 0.2)), *distances("me", (0.3, 0.4, 0.15))], "dcrl_me")
    assert test.found.superiority == pytest.approx(1 / 6)  # of six pairs 0.2 > 0.15 only
    assert test.share_better == pytest.approx(5 / 6)


def test_the_corrected_qd_score_is_shown_but_not_tested():
    found = [Value(task="t", series=s, seed=0, metric="corrected_qd_score", evaluations=1, value=1.0) for s in "ab"]
    assert family(found, "a") == []


def test_algorithms_with_other_batches_meet_at_the_smallest_budget(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0, generations=9, batch=100)  # 1,000 evaluations
    write_run(tmp_path, "point_omni", "me_es", 0, 300.0, generations=3, batch=300, budget=1300)  # 1,200
    found = {value.series: value for value in compared(collect([tmp_path])) if value.metric == "qd_score"}
    assert (found["me"].evaluations, found["me"].value) == (1000, 900)
    assert (found["me_es"].evaluations, found["me_es"].value) == (900, 200)


def test_operators_gains_add_up_to_the_score(tmp_path):
    path = write_run(tmp_path, "point_omni", "dcrl_me", 0, 900.0)
    (record,) = collect([path]).records
    score = record.metrics["qd_score"]
    np.testing.assert_allclose(cumulative(record, "improvement", record.operators), score - score[0])
    assert group_curve([record], "improvement", "GA").median[-1] == pytest.approx(300)
    assert group_curve([record], "improvement", "PG + AI").median[-1] == pytest.approx(600)
    assert group_curve([record], "added", "total").median[-1] == 9 * (1 + 2 + 3)
    parts = contributions([record], {"point_omni": 1000})
    assert [part.operator for part in parts] == ["ga", "pg", "ai"]
    assert [part.improvement for part in parts] == pytest.approx([300, 300, 300])
    assert [part.added for part in parts] == [9, 18, 27]


def test_operators_are_summed_up_to_the_common_number_of_evaluations(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0)  # 1,000 evaluations
    write_run(tmp_path, "point_omni", "me", 1, 300.0, generations=3)  # 400
    runs = collect([tmp_path])
    parts = contributions(runs.records, budgets(runs))
    assert [(part.seed, part.improvement, part.added) for part in parts] == [(0, 300, 3), (1, 300, 3)]


def test_an_evolution_strategy_has_no_part_in_either_group(tmp_path):
    write_run(tmp_path, "point_omni", "me_es", 0, 900.0)
    records = collect([tmp_path]).records
    assert group_curve(records, "improvement", "GA") is None
    assert group_curve(records, "improvement", "PG + AI") is None
    assert group_curve(records, "improvement", "total").median[-1] == pytest.approx(900)


def test_settings_that_differ_make_a_series_of_their_own(tmp_path):
    write_run(tmp_path, "point_omni", "dcrl_me", 0, 900.0)
    write_run(tmp_path, "point_omni", "dcrl_me", 0, 800.0, changes={"hyperparameters.length_scale": 0.2}, folder="wide")
    assert collect([tmp_path]).series == ("dcrl_me", "dcrl_me (length_scale=0.2)")  # the paper's is 0.1


def test_the_settings_of_most_runs_keep_the_algorithms_name(tmp_path):
    wide = {"hyperparameters.length_scale": 0.2}
    for seed in range(3):
        write_run(tmp_path, "point_omni", "dcrl_me", seed, 900.0, changes=wide)
    write_run(tmp_path, "point_omni", "dcrl_me", 0, 900.0, folder="usual")
    runs = collect([tmp_path])
    assert runs.series == ("dcrl_me", "dcrl_me (length_scale=0.1)")
    assert len(runs.of("point_omni", "dcrl_me")) == 3


def test_a_field_that_only_some_configurations_have_makes_no_series(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0)
    path = write_run(tmp_path, "point_omni", "me", 1, 900.0)
    config = json.loads((path / "config.json").read_text())
    del config["hidden"]
    (path / "config.json").write_text(json.dumps(config))
    runs = collect([tmp_path])
    assert runs.series == ("me",)
    assert runs.remarks == ()


def remarks_on(*paths):
    return " ".join(collect(paths).remarks)


def test_what_is_unequal_is_said(tmp_path):
    write_run(tmp_path, "point_omni", "dcrl_me", 0, 900.0)
    write_run(tmp_path, "point_omni", "dcrl_me", 1, 900.0)
    write_run(tmp_path, "point_omni", "me", 0, 9.0, budget=5000, changes={"hyperparameters.archive.cells": 64})
    said = remarks_on(tmp_path)
    assert "cells is not the same in all runs (1024: dcrl_me; 64: me)" in said
    assert "the budgets differ (1,000: dcrl_me; 5,000: me)" in said
    assert "me has no run of seed 1" in said
    assert "processors" not in said


def test_different_processors_are_said(tmp_path):
    for seed, processor in enumerate(("AMD EPYC", "Intel Xeon")):
        manifest = write_run(tmp_path, "point_omni", "me", seed, 900.0) / "manifest.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"processor": processor}))
    assert "made on different processors (AMD EPYC: me; Intel Xeon: me)" in remarks_on(tmp_path)


def test_the_same_seed_twice_counts_once(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0, generations=5, budget=1000)
    write_run(tmp_path, "point_omni", "me", 0, 900.0, folder="again")
    runs = collect([tmp_path])
    assert [record.evaluations for record in runs.records] == [1000]
    assert "has the seed and settings of" in runs.remarks[0]


def test_a_run_given_twice_counts_once(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    runs = collect([tmp_path, path, path / ".." / path.name])
    assert len(runs.records) == 1
    assert runs.remarks == ()


def test_a_run_in_progress_is_used_as_far_as_it_got(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0, budget=5000)
    write_run(tmp_path, "point_omni", "me", 1, 900.0, generations=49)
    lock = Lock(path)
    try:
        runs = collect([tmp_path])
    finally:
        lock.release()
    assert f"{path} is still running; its 1,000 evaluations so far are used." in runs.remarks
    finished, unfinished = split(runs, budgets(runs))
    assert [record.seed for record in finished.records] == [1]
    assert [record.seed for record in unfinished] == [0]


@pytest.mark.parametrize(
    "damage",
    [
        "4,500,8.0,nonsense,0,0,0,0\n",
        "4,500\n",
        "4,300,8.0,400,0,0,0,0\n",
        "4,500,8.0,nan,0,0,0,0\n",
        "4,500,8.0,400,0,0,0,oops\n",
    ],
)
def test_metrics_are_used_up_to_where_they_are_damaged(damage, tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    lines = (path / "metrics.csv").read_text().splitlines(keepends=True)
    lines[5] = damage
    (path / "metrics.csv").write_text("".join(lines))
    runs = collect([tmp_path])
    assert runs.records[0].metrics["qd_score"].tolist() == pytest.approx([0, 100, 200, 300])
    assert "metrics.csv is damaged at row 5; the rows before it are used" in runs.remarks[0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", "{", "cannot read"),
        ("config.json", "[]", "not a JSON object"),
        ("config.json", '{"task": "point_omni"}', "lacks the field 'algorithm'"),
        ("config.json", '{"task": "p", "algorithm": "me", "seed": true}', "lacks the field 'seed'"),
        (
            "config.json",
            '{"task": "a\\nb", "algorithm": "me", "seed": 0}',
            "the task in its config.json must be a name",
        ),
        (
            "config.json",
            '{"task": "p", "algorithm": "me", "seed": 0, "evaluations": 1, "x": ' + '{"x": ' * 50 + "1" + "}" * 51,
            "nested deeper",
        ),
        ("metrics.csv", "generation," + "x" * 70_000 + "\n", "a line of"),
        ("metrics.csv", "", "no rows"),
        ("metrics.csv", "generation,evaluations\n0,1\n", "no column 'wall_seconds'"),
        ("metrics.csv", None, "cannot read"),
    ],
)
def test_a_run_that_cannot_be_used_is_left_out_and_named(name, content, said, tmp_path):
    bad = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    write_run(tmp_path, "point_omni", "me", 1, 900.0)
    (bad / name).unlink()
    if content is not None:
        (bad / name).write_text(content)
    runs = collect([tmp_path])
    assert [record.seed for record in runs.records] == [1]
    assert f"{bad} is left out" in runs.remarks[0]
    assert said in runs.remarks[0]


def test_runs_are_compared_from_their_first_generation_on(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0)
    runs = collect([tmp_path])
    assert budgets(runs, 100) == {"point_omni": 100}
    with pytest.raises(ValueError, match=r"can be compared after 100 evaluations or more, .* got 99"):
        budgets(runs, 99)


def test_no_runs_are_an_error(tmp_path):
    with pytest.raises(ValueError, match="no usable run at or below"):
        collect([tmp_path])
    with pytest.raises(ValueError, match="there is no directory"):
        collect([tmp_path / "nowhere"])
