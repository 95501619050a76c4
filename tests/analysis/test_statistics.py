"""Statistics against SciPy's, statsmodels' and hand computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from dcrl.analysis.statistics import compare, holm, summarise


def test_a_summary_by_hand():
    summary = summarise([5.0, 1.0, 9.0, 3.0, 7.0, 100.0, -50.0, 4.0])
    # sorted: -50 1 3 4 5 7 9 100; the middle half is 3 4 5 7
    assert summary.count == 8
    assert summary.median == 4.5
    assert summary.interquartile_mean == pytest.approx(19 / 4)
    assert (summary.lower_quartile, summary.upper_quartile) == (1 + 0.75 * 2, 7 + 0.25 * 2)


def test_one_value_is_summarised_without_intervals():
    summary = summarise([3.0])
    assert summary.median == summary.lower_quartile == summary.upper_quartile == summary.interquartile_mean == 3
    assert np.isnan(summary.median_interval).all()
    assert np.isnan(summary.interquartile_mean_interval).all()


def test_no_values_are_refused():
    with pytest.raises(ValueError, match="at least one value"):
        summarise([])
    with pytest.raises(ValueError, match="both sides, got 1 and 0"):
        compare([1.0], [])


def test_intervals_agree_with_scipys_bootstrap():
    values = np.random.default_rng(3).normal(100, 15, 20)
    summary = summarise(values)
    for found, statistic in (
        (summary.median_interval, np.median),
        (summary.interquartile_mean_interval, lambda x, axis: stats.trim_mean(x, 0.25, axis=axis)),
    ):
        theirs = stats.bootstrap(
            (values,), statistic, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
        )
        assert found == pytest.approx(tuple(theirs.confidence_interval), abs=1.0)


def test_the_interval_of_three_values_follows_from_all_27_resamples():
    values = np.array([1.0, 2.0, 10.0])
    medians = [np.median(drawn) for drawn in itertools.product(values, repeat=3)]
    expected = np.quantile(medians, (0.025, 0.975))  # 7 in 27 are the least, and 7 the greatest
    assert summarise(values).median_interval == pytest.approx(tuple(expected))


@pytest.mark.parametrize("ties", [False, True])
def test_a_comparison_counts_pairs(ties):
    random = np.random.default_rng(5)
    first, second = random.normal(1, 1, 7), random.normal(0, 1, 9)
    if ties:
        first, second = np.round(first), np.round(second)
    pairs = [(a > b) + 0.5 * (a == b) for a in first for b in second]
    found = compare(first, second)
    assert found.u == sum(pairs)
    assert found.superiority == pytest.approx(np.mean(pairs))
    assert found.difference == np.median(first) - np.median(second)
    if not ties:  # exact: the share of all splits of the 16 values that are at least as extreme
        values = np.concatenate([first, second])
        ranks = stats.rankdata(values)
        middle = 7 * 9 / 2
        far = abs(found.u - middle)
        us = [sum(ranks[list(chosen)]) - 7 * 8 / 2 for chosen in itertools.combinations(range(16), 7)]
        assert found.p == pytest.approx(np.mean([abs(u - middle) >= far - 1e-9 for u in us]))


def test_the_smallest_p_is_what_a_full_separation_gets():
    assert compare([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]).p == compare([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]).smallest_p == 0.1
    assert compare([2.0], [1.0]).smallest_p == 1.0
    many = np.arange(20.0)  # beyond 8 a side SciPy's p is the normal approximation's
    assert compare(many + 20, many).p == compare(many + 20, many).smallest_p == pytest.approx(6.8e-8, rel=0.01)


def test_equal_values_do_not_differ():
    found = compare([2.0, 2.0, 2.0], [2.0, 2.0])
    assert (found.p, found.superiority, found.difference) == (1.0, 0.5, 0.0)


@pytest.mark.parametrize("count", [1, 2, 21, 147])
def test_holm_equals_statsmodels(count):
    p = np.random.default_rng(count).beta(0.3, 3, count)
    p[: count // 3] = p[0]  # ties
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
