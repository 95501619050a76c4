"""Metrics of re-evaluated archives, from what `dcrl evaluate` left in a run's `reproducibility/` directory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcrl.analysis.comparison import Value
from dcrl.analysis.metrics import METRICS, RE_EVALUATED
from dcrl.analysis.records import Record
from dcrl.evaluation.files import ACTOR, ELITES, TOTALS
from dcrl.figures.series import actor_series
from dcrl.files import read_json
from dcrl.runs.metrics import read_columns

FOLDER = "reproducibility"


@dataclass(frozen=True, kw_only=True)
class Cells:
    """One run's per-cell table, summed up. The actor's cells have no stored fitness."""

    task: str
    series: str
    seed: int
    cells: int
    stored_fitness: float  # means over cells
    mean_fitness: float
    fitness_deviation: float
    stay_in_cell: float  # share of policies whose mean descriptor lies in their own cell


def re_evaluated(records: Sequence[Record]) -> tuple[list[Value], list[str]]:
    """The metrics of elites, and of actors as series of their own, and remarks on them."""
    found: list[Value] = []
    remarks: list[str] = []
    repeats: set[int] = set()
    without = 0
    for record in records:
        path = record.path / FOLDER / TOTALS
        if not path.is_file():
            without += 1
            continue
        try:
            own, count = _values(record, read_json(path))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            why = f"it lacks {error!s}" if isinstance(error, KeyError) else str(error)
            remarks.append(f"{path} cannot be used: {why}.")
            continue
        found += own
        repeats.add(count)
        if own and own[0].evaluations != record.evaluations:
            remarks.append(
                f"{record.path} was re-evaluated after {own[0].evaluations:,} evaluations and has since continued to "
                f"{record.evaluations:,}."
            )
    if found and without:
        remarks.append(f"Not re-evaluated: {without} of {len(records)} runs; use `dcrl evaluate RUN`.")
    if len(repeats) > 1:
        remarks.append(f"Runs were re-evaluated with different numbers of repeats: {sorted(repeats)}.")
    return found, remarks


def _values(record: Record, totals: Any) -> tuple[list[Value], int]:
    found = []
    for who, series in (("elites", record.series), ("actor", actor_series(record.series))):
        if totals[who] is None:
            continue
        for metric in RE_EVALUATED:
            number = totals[who][METRICS[metric].field]
            found.append(
                Value(
                    task=record.task,
                    series=series,
                    seed=record.seed,
                    metric=metric,
                    evaluations=int(totals["evaluations"] or record.evaluations),
                    value=math.nan if number is None else float(number),
                )
            )
    return found, int(totals["repeats"])


def cell_tables(records: Sequence[Record]) -> tuple[list[Cells], list[str]]:
    """The per-cell tables of elites and actors, summed up, and remarks on those that cannot be read."""
    found, remarks = [], []
    for record in records:
        for name, series in ((ELITES, record.series), (ACTOR, actor_series(record.series))):
            path = record.path / FOLDER / name
            if not path.is_file():
                continue
            try:
                table = read_columns(path)
                found.append(_cells(record, series, table))
            except ValueError as error:
                remarks.append(f"{path} cannot be used: {error}.")
            except KeyError as error:
                remarks.append(f"{path} cannot be used: it has no rows, or no column {error}.")
    return found, remarks


def _cells(record: Record, series: str, table: dict[str, Any]) -> Cells:
    known = np.isfinite(table["fitness_mean"])

    def mean(name: str) -> float:
        values = table[name][known] if name in table else np.empty(0)
        values = values[np.isfinite(values)]
        return float(values.mean()) if len(values) else math.nan

    return Cells(
        task=record.task,
        series=series,
        seed=record.seed,
        cells=len(known),
        stored_fitness=mean("stored_fitness"),
        mean_fitness=mean("fitness_mean"),
        fitness_deviation=mean("fitness_deviation"),
        stay_in_cell=float((table["landing"] == table["cell"]).mean()),
    )
