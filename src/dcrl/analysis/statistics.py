"""Statistics over seeds: summaries with their uncertainty, and tests corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dcrl.types import Floats

RESAMPLES = 10_000
CONFIDENCE = 0.95
FEWEST_FOR_INTERVAL = 3  # of one or two values a bootstrap says nothing
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a few runs' values say together. Intervals are NaN where there are too few."""

    count: int
    median: float
    lower_quartile: float
    upper_quartile: float
    interquartile_mean: float  # the mean of the middle half
    median_interval: tuple[float, float]
    interquartile_mean_interval: tuple[float, float]


def summarise(values: Sequence[float] | Floats) -> Summary:
    """Median, quartiles and interquartile mean, with percentile-bootstrap intervals of 95 %.

    Quartiles interpolate linearly, as NumPy does; of n values the interquartile mean leaves out the ⌊n/4⌋ lowest
    and as many highest.
    """
    sample = np.asarray(values, np.float64)
    if not len(sample):
        raise ValueError("a summary needs at least one value, got none")
    lower, middle, upper = np.quantile(sample, (0.25, 0.5, 0.75))
    return Summary(
        count=len(sample),
        median=float(middle),
        lower_quartile=float(lower),
        upper_quartile=float(upper),
        interquartile_mean=interquartile_mean(sample),
        median_interval=interval(sample, lambda resampled: np.median(resampled, axis=-1)),
        interquartile_mean_interval=interval(sample, lambda resampled: stats.trim_mean(resampled, 0.25, axis=-1)),
    )


def interquartile_mean(values: Floats) -> float:
    return float(stats.trim_mean(values, 0.25))


def interval(sample: Floats, statistic: Callable[[Floats], Any]) -> tuple[float, float]:
    """The middle 95 % of a statistic (of the last axis) over resampled seeds; the resamples are always the same."""
    if len(sample) < FEWEST_FOR_INTERVAL:
        return (math.nan, math.nan)
    drawn = np.random.default_rng(0).integers(len(sample), size=(RESAMPLES, len(sample)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(statistic(sample[drawn]), (tail, 1 - tail))
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two samples: a two-sided Mann-Whitney U test, and how large the difference is."""

    u: float  # the pairs in which the first is greater, a tie counting a half
    p: float
    superiority: float  # the share of such pairs: 0.5 is no difference, 1 is always greater
    difference: float  # of the medians
    smallest_p: float  # what the test can reach with so many values, if there are no ties


def compare(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> Comparison:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if not len(one) or not len(other):
        raise ValueError(f"a comparison needs values on both sides, got {len(one)} and {len(other)}")
    result = stats.mannwhitneyu(one, other)
    p = float(result.pvalue)
    return Comparison(
        u=float(result.statistic),
        p=1.0 if math.isnan(p) else p,  # all values equal
        superiority=float(result.statistic) / (len(one) * len(other)),
        difference=float(np.median(one) - np.median(other)),
        smallest_p=smallest_p(len(one), len(other)),
    )


def smallest_p(first: int, second: int) -> float:
    """The p of so many values that are all greater than so many others: no test of them can give less."""
    return float(stats.mannwhitneyu(np.arange(second, second + first), np.arange(second)).pvalue)


def holm(p: Sequence[float] | Floats) -> Floats:
    """P values corrected by Holm and Bonferroni for a whole family: the share of families like it with any false alarm.

    The k-th smallest of m is multiplied by m − k + 1, and none falls below a smaller one.
    """
    given = np.asarray(p, np.float64)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
