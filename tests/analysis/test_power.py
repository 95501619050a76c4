"""Seeds needed: by hand, by Noether's formula, and by simulations of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dcrl.analysis.power import probability_of_superiority, runs_needed, seeds_needed


def test_the_probability_of_superiority_of_normal_samples():
    first, second = [1.0, 3.0], [0.0, 4.0, 5.0]
    spread = math.sqrt(2.0 + 7.0)  # the sample variances
    assert probability_of_superiority(first, second) == pytest.approx(stats.norm.cdf((2 - 3) / spread))
    assert probability_of_superiority([2.0, 2.0], [1.0, 1.0]) == 1
    assert probability_of_superiority([1.0, 1.0], [1.0, 1.0]) == 0.5
    assert math.isnan(probability_of_superiority([1.0], [1.0, 2.0]))


def test_small_differences_need_noethers_number():
    # (1.95996 + 0.84162)² / (6 · 0.1²) = 130.8
    assert seeds_needed(0.6) == seeds_needed(0.4) == 131
    level = stats.norm.ppf(1 - 0.05 / 21 / 2) + stats.norm.ppf(0.8)
    assert seeds_needed(0.6, 21) == math.ceil(level**2 / 0.06)


def test_no_difference_and_single_runs_have_no_number():
    assert seeds_needed(0.5) is None
    assert seeds_needed(math.nan) is None
    assert seeds_needed(0.52) is None  # 3,270


@pytest.mark.parametrize(("superiority", "tests"), [(0.8, 1), (0.9, 21)])
def test_so_many_seeds_have_a_power_of_80_percent(superiority, tests):
    needed = seeds_needed(superiority, tests)
    random = np.random.default_rng(100)
    shift = math.sqrt(2) * stats.norm.ppf(superiority)

    def power(seeds: int) -> float:
        first, second = random.normal(shift, 1, (2000, seeds)), random.normal(0, 1, (2000, seeds))
        return float((stats.mannwhitneyu(first, second, axis=1).pvalue < 0.05 / tests).mean())

    assert power(needed) > 0.77
    assert power(needed - 2) < 0.8


def test_complete_separation_needs_what_can_be_significant_at_all():
    assert [seeds_needed(1.0, count) for count in (1, 21, 147)] == [4, 6, 8]


@pytest.mark.parametrize(("tests", "runs"), [(1, 4), (21, 6), (147, 8)])
def test_the_runs_that_a_family_needs(tests, runs):
    assert runs_needed(tests) == runs
    assert 2 / math.comb(2 * runs, runs) * tests < 0.05 < 2 / math.comb(2 * runs - 2, runs - 1) * tests
