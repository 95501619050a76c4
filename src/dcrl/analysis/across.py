"""Statistics across tasks: normalised scores, their interquartile mean, profiles and probability of improvement.

As in Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical Precipice". A series has one
sample of scores per task. Intervals are percentile-bootstrap intervals of 95%, stratified: seeds are resampled within
each task, so every resample has as many runs of every task as there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dcrl.analysis.statistics import CONFIDENCE, FEWEST_FOR_INTERVAL
from dcrl.types import Floats

RESAMPLES = 2000
THRESHOLDS = np.linspace(0, 1, 101)
Scores = Mapping[str, Sequence[float]]  # task -> one score per run


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number and its interval, which is NaN where a task has too few runs."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The share of runs whose normalised score is above each threshold, tasks pooled."""

    thresholds: Floats  # (X,)
    share: Floats  # (X,)
    low: Floats  # (X,) NaN where a task has too few runs
    high: Floats


def normalise(scores: Mapping[str, Scores]) -> dict[str, dict[str, list[float]]]:
    """Scores of all series, by series and task, on one scale: a task's lowest run is 0, its highest 1.

    Where all runs of a task are equal they are 0.
    """
    tasks = dict.fromkeys(task for own in scores.values() for task in own)
    bounds = {}
    for task in tasks:
        pooled = [value for own in scores.values() for value in own.get(task, ())]
        bounds[task] = (min(pooled), max(pooled))

    def scaled(value: float, low: float, high: float) -> float:
        return (value - low) / (high - low) if high > low else 0.0

    return {
        series: {task: [scaled(value, *bounds[task]) for value in values] for task, values in own.items()}
        for series, own in scores.items()
    }


def interquartile_mean(scores: Scores) -> Estimate:
    """The mean of the middle half of all runs of all tasks."""
    return _estimate((scores,), lambda drawn: np.asarray(stats.trim_mean(_pooled(drawn[0]), 0.25, axis=-1)))


def profile(scores: Scores, thresholds: Floats = THRESHOLDS) -> Profile:
    def share(samples: Sequence[Floats]) -> Floats:
        found: Floats = (_pooled(samples)[..., None] > thresholds).mean(axis=-2)
        return found

    low, high = _interval((scores,), lambda drawn: share(drawn[0]))
    return Profile(thresholds=thresholds, share=share(_samples(scores)), low=low, high=high)


def probability_of_improvement(first: Scores, second: Scores) -> Estimate:
    """The share of pairs of runs of the same task in which the first scores higher, a tie counting a half.

    The mean over tasks; scores need no normalisation.
    """
    if set(first) != set(second):
        raise ValueError(f"both sides need the same tasks, got {sorted(first)} and {sorted(second)}")
    ordered = {task: second[task] for task in first}

    def superiority(drawn: Sequence[Sequence[Floats]]) -> Floats:
        shares = []
        for one, other in zip(*drawn, strict=True):
            difference = one[..., :, None] - other[..., None, :]
            shares.append(((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-2, -1)))
        mean: Floats = np.mean(shares, axis=0)
        return mean

    return _estimate((first, ordered), superiority)


Statistic = Callable[
    [Sequence[Sequence[Floats]]], Floats
]  # of one list of samples per side, the runs on their last axis


def _estimate(sides: Sequence[Scores], statistic: Statistic) -> Estimate:
    low, high = _interval(sides, statistic)
    return Estimate(value=float(statistic([_samples(side) for side in sides])), low=float(low), high=float(high))


def _interval(sides: Sequence[Scores], statistic: Statistic) -> tuple[Floats, Floats]:
    samples = [_samples(side) for side in sides]
    shape = np.shape(statistic(samples))
    if min(len(sample) for side in samples for sample in side) < FEWEST_FOR_INTERVAL:
        return np.full(shape, math.nan), np.full(shape, math.nan)
    random = np.random.default_rng(0)
    drawn = [
        [sample[random.integers(len(sample), size=(RESAMPLES, len(sample)))] for sample in side] for side in samples
    ]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(statistic(drawn), (tail, 1 - tail), axis=0)
    return low, high


def _samples(scores: Scores) -> list[Floats]:
    return [np.asarray(values, np.float64) for values in scores.values()]


def _pooled(samples: Sequence[Floats]) -> Floats:
    return np.concatenate(samples, axis=-1)
