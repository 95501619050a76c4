"""Statistics over seeds: summaries with their uncertainty, and tests with correction for multiple testing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dcrl.types import Floats

RESAMPLES = 10_000
BAND_RESAMPLES = 1000  # of a curve, whose points are many
CONFIDENCE = 0.95
FEWEST_FOR_INTERVAL = 3  # a bootstrap of one or two values means nothing
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A sample in a few numbers. Intervals are NaN where there are too few runs."""

    count: int
    median: float
    lower_quartile: float
    upper_quartile: float
    interquartile_mean: float  # the mean of the middle half
    median_interval: tuple[float, float]
    interquartile_mean_interval: tuple[float, float]


def summarise(values: Sequence[float] | Floats) -> Summary:
    """Median, quartiles and interquartile mean, with percentile-bootstrap intervals of 95%.

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
    """The 95% percentile-bootstrap interval of a statistic of the last axis; the resamples are always the same."""
    if len(sample) < FEWEST_FOR_INTERVAL:
        return (math.nan, math.nan)
    drawn = np.random.default_rng(0).integers(len(sample), size=(RESAMPLES, len(sample)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(statistic(sample[drawn]), (tail, 1 - tail))
    return float(low), float(high)


def median_band(rows: Floats) -> tuple[Floats, Floats]:
    """(X,) twice: the interval of the median of each column of (runs, X); whole rows are resampled."""
    drawn = np.random.default_rng(0).integers(len(rows), size=(BAND_RESAMPLES, len(rows)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.median(rows[drawn], axis=1), (tail, 1 - tail), axis=0)
    return low, high


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two samples: a two-sided Mann-Whitney U test and the effect size."""

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
    """The smallest p value that samples of these sizes can give: that of complete separation."""
    return float(stats.mannwhitneyu(np.arange(second, second + first), np.arange(second)).pvalue)


def holm(p: Sequence[float] | Floats) -> Floats:
    """P values with Holm-Bonferroni correction, which controls the family-wise error rate.

    The k-th smallest of m is multiplied by m − k + 1; corrected values keep the order of the given ones.
    """
    given = np.asarray(p, np.float64)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
