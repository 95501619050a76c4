"""Series of runs compared: values at a common number of evaluations, curves over seeds, tests against a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcrl.analysis.collection import Collection
from dcrl.analysis.metrics import METRICS, STORED, TESTED
from dcrl.analysis.records import Record
from dcrl.analysis.statistics import FEWEST_FOR_INTERVAL, Comparison, compare, holm, median_band
from dcrl.types import Floats

POINTS = 400  # of a curve, at most


@dataclass(frozen=True, kw_only=True)
class Value:
    """One run's metric at the number of evaluations at which its task is compared."""

    task: str
    series: str
    seed: int
    metric: str
    evaluations: int  # the last generation's, at most the common number
    value: float


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A metric over evaluations or seconds: median and quartiles of the runs at each x."""

    x: Floats
    median: Floats
    lower_quartile: Floats
    upper_quartile: Floats
    runs: int
    interval: tuple[Floats, Floats] | None = None  # the median's, 95 %; from three runs on

    @property
    def low(self) -> Floats:
        """The lower end of the band that is drawn: of the interval if there is one, else of the quartiles."""
        return self.lower_quartile if self.interval is None else self.interval[0]

    @property
    def high(self) -> Floats:
        return self.upper_quartile if self.interval is None else self.interval[1]


@dataclass(frozen=True, kw_only=True)
class Test:
    """A test of a reference against another series on one task and metric; its p value is corrected for its family."""

    task: str
    metric: str
    reference: str
    other: str
    counts: tuple[int, int]
    found: Comparison
    corrected_p: float

    @property
    def share_better(self) -> float:
        """The share of pairs of runs in which the reference is better, a tie counting a half."""
        greater = self.found.superiority
        return greater if METRICS[self.metric].higher_is_better else 1 - greater


def budgets(collection: Collection, evaluations: int | None = None) -> dict[str, int]:
    """For each task the number of evaluations at which runs are compared: the smallest budget, unless one is given."""
    common = {}
    for task in collection.tasks:
        records = [record for record in collection.records if record.task == task]
        first = int(min(record.metrics["evaluations"][0] for record in records))
        common[task] = min(record.budget for record in records) if evaluations is None else evaluations
        if common[task] < first:
            raise ValueError(
                f"runs of {task} can be compared after {first:,} evaluations or more, the end of their first "
                f"generation; got {common[task]:,}"
            )
    return common


def split(collection: Collection, common: Mapping[str, int]) -> tuple[Collection, tuple[Record, ...]]:
    """The runs that reached their task's common number of evaluations, and the others."""
    reached = {
        record: record.metrics["evaluations"][0] <= common[record.task] and record.reached(common[record.task])
        for record in collection.records
    }
    finished = Collection(records=tuple(record for record in reached if reached[record]), remarks=collection.remarks)
    return finished, tuple(record for record in reached if not reached[record])


def at(record: Record, metric: str, x: float | Floats, axis: str = "evaluations") -> Floats:
    """A metric after the last generation that ended by `x`; NaN before the first."""
    rows = np.searchsorted(record.metrics[axis], x, side="right") - 1
    return np.where(rows < 0, np.nan, record.metrics[metric][np.maximum(rows, 0)])


def values(collection: Collection, common: Mapping[str, int]) -> list[Value]:
    """The metrics of all runs at their task's common number of evaluations."""
    return [
        Value(
            task=record.task,
            series=record.series,
            seed=record.seed,
            metric=metric,
            evaluations=int(at(record, "evaluations", common[record.task])),
            value=float(at(record, metric, common[record.task])),
        )
        for record in collection.records
        for metric in STORED
    ]


def curve(records: Sequence[Record], metric: str, end: float = np.inf) -> Curve:
    """Median and quartiles over evaluations, from where all runs have begun to where the first ends, or to `end`."""
    counts = [record.metrics["evaluations"] for record in records]
    x = np.unique(np.concatenate(counts))
    x = x[(x >= max(own[0] for own in counts)) & (x <= min(min(own[-1] for own in counts), end))]
    return _curve(records, metric, "evaluations", x)


def time_curve(records: Sequence[Record], metric: str) -> Curve:
    """The same over wall time, with the interval of the median; a run that has ended keeps its last value."""
    seconds = [record.metrics["wall_seconds"] for record in records]
    x = np.unique(np.concatenate(seconds))
    drawn = _curve(records, metric, "wall_seconds", x[x >= max(own[0] for own in seconds)])
    if len(records) < FEWEST_FOR_INTERVAL:
        return drawn
    rows = np.stack([at(record, metric, drawn.x, "wall_seconds") for record in records])
    return replace(drawn, interval=median_band(rows))


def _curve(records: Sequence[Record], metric: str, axis: str, x: Floats) -> Curve:
    if len(x) > POINTS:
        x = x[np.linspace(0, len(x) - 1, POINTS).round().astype(int)]
    rows = np.stack([at(record, metric, x, axis) for record in records])
    lower, middle, upper = np.quantile(rows, (0.25, 0.5, 0.75), axis=0)
    return Curve(x=x, median=middle, lower_quartile=lower, upper_quartile=upper, runs=len(records))


def samples_of(found: Sequence[Value]) -> dict[tuple[str, str, str], list[float]]:
    """Finite values by task, metric and series; the best fitness of an empty archive is none."""
    samples: dict[tuple[str, str, str], list[float]] = {}
    for value in found:
        if np.isfinite(value.value):
            samples.setdefault((value.task, value.metric, value.series), []).append(value.value)
    return samples


def family(found: Sequence[Value], reference: str) -> list[Test]:
    """Tests of the reference against every other series on every task and tested metric: one Holm family."""
    groups = samples_of([value for value in found if value.metric in TESTED])
    raw = []
    for (task, metric, series), sample in groups.items():
        own = groups.get((task, metric, reference))
        if own is not None and series != reference:
            raw.append((task, metric, series, (len(own), len(sample)), compare(own, sample)))
    corrected = holm([comparison.p for *_, comparison in raw])
    return [
        Test(
            task=task,
            metric=metric,
            reference=reference,
            other=series,
            counts=counts,
            found=comparison,
            corrected_p=float(p),
        )
        for (task, metric, series, counts, comparison), p in zip(raw, corrected, strict=True)
    ]
