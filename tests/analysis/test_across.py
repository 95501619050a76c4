"""Statistics across tasks against hand computations and independent NumPy code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dcrl.analysis.across import interquartile_mean, normalise, probability_of_improvement, profile


def test_normalised_scores_by_hand():
    scores = {"a": {"t": [10.0, 30.0], "u": [-1.0]}, "b": {"t": [20.0], "u": [3.0, 1.0]}, "c": {"v": [5.0, 5.0]}}
    assert normalise(scores) == {
        "a": {"t": [0.0, 1.0], "u": [0.0]},
        "b": {"t": [0.5], "u": [1.0, 0.5]},
        "c": {"v": [0.0, 0.0]},  # all equal
    }


def test_the_interquartile_mean_pools_tasks():
    found = interquartile_mean({"t": [0.0, 0.1, 0.2, 1.0], "u": [0.3, 0.4, 0.5, 0.9]})
    # sorted: 0 .1 .2 .3 .4 .5 .9 1; the middle half is .2 .3 .4 .5
    assert found.value == pytest.approx(0.35)
    assert found.low < 0.35 < found.high


def test_the_stratified_interval_follows_from_all_resamples():
    """Two tasks of three runs: all 27 x 27 resamples, each with three runs of either task."""
    scores = {"t": [0.0, 0.2, 0.4], "u": [0.6, 0.7, 1.0]}
    means = [
        np.sort([*one, *other])[1:5].mean()  # of six the lowest and the highest are left out
        for one in itertools.product(scores["t"], repeat=3)
        for other in itertools.product(scores["u"], repeat=3)
    ]
    low, high = np.quantile(means, (0.025, 0.975))
    found = interquartile_mean(scores)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_strata_are_kept():
    """Resampling over both tasks at once would mix 0 and 1; within tasks nothing varies."""
    found = interquartile_mean({"t": [0.0] * 4, "u": [1.0] * 4})
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def test_a_task_of_two_runs_has_no_interval():
    assert np.isnan(interquartile_mean({"t": [0.0, 1.0, 0.5], "u": [0.1, 0.2]}).low)
    assert np.isnan(profile({"t": [0.5]}).low).all()


def test_a_profile_counts_runs_above():
    found = profile({"t": [0.0, 0.5, 1.0], "u": [0.25, 0.5, 0.75]}, np.array([0.0, 0.25, 0.5, 0.9]))
    np.testing.assert_allclose(found.share, [5 / 6, 4 / 6, 2 / 6, 1 / 6])
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    assert found.low[0] < found.high[0]


def test_a_profiles_band_is_that_of_a_share():
    """One task: resampled shares above a threshold are binomial."""
    found = profile({"t": list(np.linspace(0.01, 0.99, 40))}, np.array([0.5]))
    low, high = stats.binom.ppf((0.025, 0.975), 40, 0.5) / 40
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=0.026)


def test_the_probability_of_improvement_is_the_mean_share_of_pairs():
    first, second = {"t": [3.0, 1.0], "u": [5.0]}, {"u": [4.0, 5.0], "t": [2.0]}
    assert probability_of_improvement(first, second).value == pytest.approx((0.5 + 0.75) / 2)


def test_the_interval_of_the_probability_of_improvement_by_independent_numpy():
    random = np.random.default_rng(7)
    first = {task: random.normal(0.5, 1, 8).tolist() for task in "tu"}
    second = {task: random.normal(0.0, 1, 6).tolist() for task in "tu"}
    found = probability_of_improvement(first, second)
    drawn = []
    for _ in range(4000):
        pairs = []
        for task in "tu":
            one, other = random.choice(first[task], 8), random.choice(second[task], 6)
            pairs.append(np.mean(one[:, None] > other))
        drawn.append(np.mean(pairs))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=0.02)


def test_improvement_needs_the_same_tasks():
    with pytest.raises(ValueError, match="the same tasks"):
        probability_of_improvement({"t": [1.0]}, {"u": [1.0]})
