"""The tables of a report, as CSV files and as text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Curve, Test, Value
from dcrl.analysis.grids import Key
from dcrl.analysis.metrics import METRICS, number, title
from dcrl.analysis.operators import WHATS, Contribution, operators_curve
from dcrl.analysis.statistics import Summary, summarise
from dcrl.figures.style import label
from dcrl.files import write_text
from dcrl.repertoires.repertoire import Repertoire

Cell = str | float | int | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of cells under column names. `pandas.DataFrame(table.rows, columns=table.columns)` is a data frame."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def write(self, path: Path) -> None:
        """Write a CSV file; a missing number is an empty cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if _missing(cell) else cell for cell in row] for row in self.rows])
        write_text(path, text.getvalue())


def values_table(values: Sequence[Value]) -> Table:
    """One row per run and metric."""
    columns = ("task", "series", "seed", "metric", "evaluations", "value")
    return Table(columns=columns, rows=tuple(tuple(getattr(v, name) for name in columns) for v in values))


def summary_table(samples: Mapping[Key, Sequence[float]]) -> Table:
    """One row per task, metric and series: summary statistics of its runs."""
    columns = (
        *("task", "metric", "series", "runs", "median", "lower_quartile", "upper_quartile"),
        *("median_ci_low", "median_ci_high", "interquartile_mean", "iqm_ci_low", "iqm_ci_high"),
    )
    return Table(columns=columns, rows=tuple((*key, *_numbers(summarise(sample))) for key, sample in samples.items()))


def _numbers(s: Summary) -> tuple[Cell, ...]:
    quartiles = (s.median, s.lower_quartile, s.upper_quartile)
    return (s.count, *quartiles, *s.median_interval, s.interquartile_mean, *s.interquartile_mean_interval)


def family_table(tests: Sequence[Test]) -> Table:
    """One row per test of a family."""
    columns = (
        *("task", "metric", "direction", "reference", "other", "reference_runs", "other_runs", "u", "p", "p_holm"),
        *("share_of_pairs_greater", "share_of_pairs_better", "difference_of_medians", "smallest_possible_p"),
    )
    rows = tuple(
        (
            *(test.task, test.metric, METRICS[test.metric].direction, test.reference, test.other, *test.counts),
            *(test.found.u, test.found.p, test.corrected_p, test.found.superiority, test.share_better),
            *(test.found.difference, test.found.smallest_p),
        )
        for test in tests
    )
    return Table(columns=columns, rows=rows)


def curve_table(curves: Mapping[Key, Curve], axis: str) -> Table:
    """One row per point of a curve, with the interval of the median where curves have one."""
    intervals = any(curve.interval is not None for curve in curves.values())
    columns = ("task", "quantity", "series", axis, "median", "lower_quartile", "upper_quartile", "runs")
    rows: list[tuple[Cell, ...]] = []
    for key, curve in curves.items():
        points = (curve.x, curve.median, curve.lower_quartile, curve.upper_quartile)
        for place, point in enumerate(zip(*(values.tolist() for values in points), strict=True)):
            band = (None, None) if curve.interval is None else tuple(float(end[place]) for end in curve.interval)
            rows.append((*key, *point, curve.runs, *(band if intervals else ())))
    return Table(columns=(*columns, *(("median_ci_low", "median_ci_high") if intervals else ())), rows=tuple(rows))


def contribution_table(contributions: Sequence[Contribution]) -> Table:
    """One row per operator of a run."""
    columns = ("task", "series", "seed", "operator", "evaluations", "improvement", "added")
    return Table(columns=columns, rows=tuple(tuple(getattr(c, name) for name in columns) for c in contributions))


def operator_table(runs: Collection, common: Mapping[str, int]) -> Table:
    """One row per point of each operator's own curve."""
    columns = ("task", "quantity", "series", "operator", "evaluations", "median", "lower_quartile", "upper_quartile")
    rows: list[tuple[Cell, ...]] = []
    for task in runs.tasks:
        for series in runs.series:
            records = runs.of(task, series)
            for operator in records[0].operators if records else ():
                for what in WHATS:
                    line = operators_curve(records, what, [(operator,)] * len(records), common[task])
                    points = zip(line.x, line.median, line.lower_quartile, line.upper_quartile, strict=True)
                    rows += [(task, what, series, operator, *map(float, point)) for point in points]
    return Table(columns=columns, rows=tuple(rows))


def archive_table(repertoires: Mapping[str, Repertoire]) -> Table:
    """One row per elite."""
    names = next(iter(repertoires.values())).space.names
    columns = ("series", "seed", "cell", "fitness", *names, *(f"centroid {name}" for name in names))
    rows = tuple(
        (series, r.seed, int(cell), float(r.fitness[cell]), *r.descriptor[cell].tolist(), *r.centroids[cell].tolist())
        for series, r in repertoires.items()
        for cell in r.occupied.nonzero()[0]
    )
    return Table(columns=columns, rows=rows)


def summary_text(samples: Mapping[Key, Sequence[float]]) -> Table:
    """The summary as text: one row per task and series, `median [quartiles]` and interquartile mean."""
    quantities = list(dict.fromkeys(quantity for _, quantity, _ in samples))
    rows = []
    for task, series in dict.fromkeys((task, series) for task, _, series in samples):
        cells: list[Cell] = [task, label(series), None]
        for quantity in quantities:
            sample = samples.get((task, quantity, series))
            if sample is None:
                cells += ["", ""]
                continue
            cells[2] = len(sample)
            summary = summarise(sample)
            low, high = summary.interquartile_mean_interval
            cells.append(median_text(sample, quantity))
            around = "" if math.isnan(low) else f" ({number(low, quantity)} to {number(high, quantity)})"
            cells.append(number(summary.interquartile_mean, quantity) + around)
        rows.append(tuple(cells))
    names = [f"{title(quantity)}, {what}" for quantity in quantities for what in ("median [quartiles]", "IQM (95% CI)")]
    return Table(columns=("task", "algorithm", "runs", *names), rows=tuple(rows))


def median_text(sample: Sequence[float], quantity: str = "") -> str:
    """`median [lower quartile, upper quartile]`; a single run's value alone."""
    lower, middle, upper = (number(float(q), quantity) for q in np.quantile(sample, (0.25, 0.5, 0.75)))
    return f"{middle} [{lower}, {upper}]" if len(sample) > 1 else middle


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
