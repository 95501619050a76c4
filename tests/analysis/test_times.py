"""Time to a QD score and QD scores after seconds, by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dcrl.analysis.collection import collect
from dcrl.analysis.times import Reach, ended_by, reach, score_after, time_to_threshold
from support.synthetic import write_run


def reaches(*seconds: float) -> list[Reach]:
    """Runs that reach a threshold after so many seconds; negative ones end below it."""
    return [
        Reach(task="t", series="me", seed=seed, threshold=1.0, seconds=abs(s), reached=s > 0)
        for seed, s in enumerate(seconds)
    ]


def test_a_run_reaches_a_score_at_the_end_of_a_generation(tmp_path):
    write_run(tmp_path, "point_omni", "me", 0, 900.0, seconds=10.0)  # 100 more every 10 s
    (record,) = collect([tmp_path]).records
    assert (reach(record, 450).seconds, reach(record, 450).reached) == (50, True)
    assert (reach(record, 500).seconds, reach(record, 900).seconds) == (50, 90)
    assert (reach(record, 901).seconds, reach(record, 901).reached) == (90, False)
    assert [score_after(record, second) for second in (0.5, 10, 19, 90, 1000)] == [0, 100, 100, 900, 900]
    assert (ended_by(record, 90), ended_by(record, 91)) == (False, True)


def test_before_its_first_generation_a_run_has_a_score_of_0(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    rows = (path / "metrics.csv").read_text().splitlines()
    (path / "metrics.csv").write_text("\n".join([rows[0], *rows[4:]]) + "\n")
    (record,) = collect([path]).records
    assert score_after(record, 1.0) == 0


@pytest.mark.parametrize(
    ("seconds", "median", "reached"),
    [
        ((10.0, 30.0, 20.0), 20, 3),
        ((10.0, 30.0, -40.0), 30, 2),
        ((10.0, -40.0, -40.0), math.inf, 1),
        ((10.0, 20.0, -40.0, -40.0), 20, 2),  # half of the runs have reached it
        ((300.0, -20.0, -20.0, -20.0), math.inf, 1),  # Kaplan-Meier would say 300, of one long run
    ],
)
def test_runs_that_never_reach_it_count(seconds, median, reached):
    found = time_to_threshold(reaches(*seconds))
    assert (found.median, found.reached, found.runs) == (median, reached, len(seconds))


@pytest.mark.parametrize("seconds", [(10.0, 20.0, 30.0, 40.0, 50.0), (10.0, 20.0, 30.0, -60.0, -60.0)])
def test_the_median_is_kaplan_meiers_where_the_others_ran_longest(seconds):
    times, censored = np.abs(seconds), np.array(seconds) < 0
    survival = stats.ecdf(stats.CensoredData.right_censored(times, censored)).sf
    expected = survival.quantiles[np.flatnonzero(survival.probabilities <= 0.5)[0]]
    assert time_to_threshold(reaches(*seconds)).median == expected


def test_the_interval_follows_from_all_27_resamples():
    medians = sorted(sorted(drawn)[1] for drawn in itertools.product((10.0, 20.0, math.inf), repeat=3))
    found = time_to_threshold(reaches(10.0, 20.0, -50.0))
    assert (found.low, found.high) == (medians[0], medians[-1]) == (10, math.inf)
    assert math.isnan(time_to_threshold(reaches(10.0, 20.0)).low)
