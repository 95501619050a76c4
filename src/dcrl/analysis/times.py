"""Wall time to a QD score, and the QD score after so many seconds.

A run that ends below the threshold counts as slower than all that reach it, however short it was. Where such runs are
also the longest, the median is the Kaplan-Meier estimate with these runs censored at their ends; where they are not,
that estimate would drop them, and one long run could stand for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcrl.analysis.comparison import at
from dcrl.analysis.records import Record
from dcrl.analysis.statistics import CONFIDENCE, FEWEST_FOR_INTERVAL
from dcrl.types import Floats

RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Reach:
    """When one run's QD score first reached a threshold, or when the run ended below it."""

    task: str
    series: str
    seed: int
    threshold: float
    seconds: float
    reached: bool


@dataclass(frozen=True, kw_only=True)
class TimeToThreshold:
    """The runs of a series: how many reached a threshold, and their median time; infinite if too few did."""

    runs: int
    reached: int
    median: float
    low: float  # the 95% bootstrap interval over seeds, NaN for fewer than 3 runs
    high: float


def reach(record: Record, threshold: float) -> Reach:
    seconds, scores = record.metrics["wall_seconds"], record.metrics["qd_score"]
    above = np.flatnonzero(scores >= threshold)
    return Reach(
        task=record.task,
        series=record.series,
        seed=record.seed,
        threshold=threshold,
        seconds=float(seconds[above[0]] if len(above) else seconds[-1]),
        reached=bool(len(above)),
    )


def time_to_threshold(found: Sequence[Reach]) -> TimeToThreshold:
    seconds = np.array([one.seconds if one.reached else math.inf for one in found])
    low = high = math.nan
    if len(found) >= FEWEST_FOR_INTERVAL:
        drawn = np.random.default_rng(0).integers(len(found), size=(RESAMPLES, len(found)))
        tail = (1 - CONFIDENCE) / 2
        low, high = np.quantile(_median(seconds[drawn]), (tail, 1 - tail), method="inverted_cdf")
    return TimeToThreshold(
        runs=len(found),
        reached=sum(one.reached for one in found),
        median=float(_median(seconds)),
        low=float(low),
        high=float(high),
    )


def _median(seconds: Floats) -> Floats:
    """The time by which half of the runs, on the last axis, have reached the threshold: no mean of two runs."""
    middle: Floats = np.sort(seconds, axis=-1)[..., (seconds.shape[-1] - 1) // 2]
    return middle


def score_after(record: Record, seconds: float) -> float:
    """The QD score after so many seconds: 0 before the first generation, the last one after the run's end."""
    score = float(at(record, "qd_score", seconds, "wall_seconds"))
    return 0.0 if math.isnan(score) else score


def ended_by(record: Record, seconds: float) -> bool:
    return bool(record.metrics["wall_seconds"][-1] < seconds)
