"""The tables of a report: columns by name, as CSV for programs and as text for people."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Curve, Test, Value
from dcrl.analysis.grids import TITLES, Key
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
        """A CSV file; a number that is not there is an empty cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if _missing(cell) else cell for cell in row] for row in self.rows])
        write_text(path, text.getvalue())


def values_table(values: Sequence[Value]) -> Table:
    """One row a run and metric."""
    columns = ("task", "series", "seed", "metric", "evaluations", "value")
    return Table(columns=columns, rows=tuple(tuple(getattr(v, name) for name in columns) for v in values))


def summary_table(samples: Mapping[Key, Sequence[float]]) -> Table:
    """One row a task, metric and series: its runs in a few numbers."""
    columns = (
        *("task", "metric", "series", "runs", "median", "lower_quartile", "upper_quartile"),
        *("median_ci_low", "median_ci_high", "interquartile_mean", "iqm_ci_low", "iqm_ci_high"),
    )
    return Table(columns=columns, rows=tuple((*key, *_numbers(summarise(sample))) for key, sample in samples.items()))


def _numbers(s: Summary) -> tuple[Cell, ...]:
    quartiles = (s.median, s.lower_quartile, s.upper_quartile)
    return (s.count, *quartiles, *s.median_interval, s.interquartile_mean, *s.interquartile_mean_interval)


def test_table(tests: Sequence[Test]) -> Table:
    """One row a test of a family."""
    columns = (
        *("task", "metric", "reference", "other", "reference_runs", "other_runs", "u", "p", "p_holm"),
        *("share_of_pairs_greater", "difference_of_medians", "smallest_possible_p"),
    )
    rows = tuple(
        (
            *(test.task, test.metric, test.reference, test.other, *test.counts, test.found.u, test.found.p),
            *(test.corrected_p, test.found.superiority, test.found.difference, test.found.smallest_p),
        )
        for test in tests
    )
    return Table(columns=columns, rows=rows)


def curve_table(curves: Mapping[Key, Curve], axis: str) -> Table:
    """One row a point of a curve."""
    columns = ("task", "quantity", "series", axis, "median", "lower_quartile", "upper_quartile", "runs")
    rows = tuple(
        (*key, float(x), float(middle), float(low), float(high), curve.runs)
        for key, curve in curves.items()
        for x, middle, low, high in zip(curve.x, curve.median, curve.lower_quartile, curve.upper_quartile, strict=True)
    )
    return Table(columns=columns, rows=rows)


def contribution_table(contributions: Sequence[Contribution]) -> Table:
    """One row an operator of a run."""
    columns = ("task", "series", "seed", "operator", "evaluations", "improvement", "added")
    return Table(columns=columns, rows=tuple(tuple(getattr(c, name) for name in columns) for c in contributions))


def operator_table(runs: Collection, common: Mapping[str, int]) -> Table:
    """One row a point of each operator's own curve."""
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
    """One row an elite."""
    names = next(iter(repertoires.values())).space.names
    columns = ("series", "seed", "cell", "fitness", *names, *(f"centroid {name}" for name in names))
    rows = tuple(
        (series, r.seed, int(cell), float(r.fitness[cell]), *r.descriptor[cell].tolist(), *r.centroids[cell].tolist())
        for series, r in repertoires.items()
        for cell in r.occupied.nonzero()[0]
    )
    return Table(columns=columns, rows=rows)


def for_people(samples: Mapping[Key, Sequence[float]]) -> Table:
    """The summary as a reader wants it: one row a task and series, `median [quartiles]` and interquartile mean."""
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
            cells.append(
                number(summary.median, quantity)
                + (
                    f" [{number(summary.lower_quartile, quantity)}, {number(summary.upper_quartile, quantity)}]"
                    if len(sample) > 1
                    else ""
                )
            )
            around = "" if math.isnan(low) else f" ({number(low, quantity)} to {number(high, quantity)})"
            cells.append(number(summary.interquartile_mean, quantity) + around)
        rows.append(tuple(cells))
    names = [
        f"{TITLES.get(quantity, quantity)}, {what}"
        for quantity in quantities
        for what in ("median [quartiles]", "IQM (95 % CI)")
    ]
    return Table(columns=("task", "algorithm", "runs", *names), rows=tuple(rows))


def number(value: float, quantity: str = "") -> str:
    """A number for people: shares in percent, others with as many digits as tell them apart."""
    if math.isnan(value):
        return "none"
    if quantity == "coverage":
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
