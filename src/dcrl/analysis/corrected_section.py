"""The part of a report on the corrected QD score over wall time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields

import numpy as np

from dcrl.analysis import captions
from dcrl.analysis.corrected import Point, corrected_after, corrected_reach, points
from dcrl.analysis.metrics import number
from dcrl.analysis.page import Part
from dcrl.analysis.records import Record
from dcrl.analysis.tables import Cell, Table, median_text
from dcrl.analysis.time_words import interval_text, median_time_text
from dcrl.analysis.times import Reach, time_to_threshold
from dcrl.analysis.writer import Writer
from dcrl.figures.style import label

Run = tuple[str, str, int]  # task, series and seed


def corrected_times(
    records: Sequence[Record], reference: str, given: float | None, seconds: Sequence[float], write: Writer
) -> tuple[Part, ...]:
    """Time to a corrected QD score, and the corrected QD score after so many seconds; nothing without re-evaluation."""
    found = points(records)
    if not found:
        return ()
    columns = tuple(field.name for field in fields(Point))
    write.table("corrected_over_time", Table(columns=columns, rows=tuple(astuple(point) for point in found)))
    runs: dict[Run, list[Point]] = {}
    for point in found:
        runs.setdefault((point.task, point.series, point.seed), []).append(point)
    wanted = _thresholds(runs, reference, given)
    parts: list[Part] = []
    if wanted:
        said = (
            "as given" if given is not None else f"the median of the last re-evaluated archives of {label(reference)}"
        )
        reached = [corrected_reach(own, wanted[run[0]]) for run, own in runs.items() if run[0] in wanted]
        parts += [f"Time to a corrected QD score. The threshold is {said}.", _reached(reached), captions.CORRECTED]
    if seconds:
        parts += [_at_seconds(runs, seconds), captions.CORRECTED_AT_SECONDS]
    return tuple(parts)


def _thresholds(runs: dict[Run, list[Point]], reference: str, given: float | None) -> dict[str, float]:
    """For each task the corrected QD score to reach: as given, or the median of the reference's last archives."""
    tasks = dict.fromkeys(task for task, _, _ in runs)
    if given is not None:
        return dict.fromkeys(tasks, given)
    last = {
        task: [own[-1].corrected_qd_score for run, own in runs.items() if run[:2] == (task, reference)]
        for task in tasks
    }
    return {task: float(np.median(values)) for task, values in last.items() if values}


def _reached(found: Sequence[Reach]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for task, series in dict.fromkeys((one.task, one.series) for one in found):
        own = [one for one in found if (one.task, one.series) == (task, series)]
        total = time_to_threshold(own)
        reached = f"{total.reached} of {total.runs}"
        times = median_time_text(total), interval_text(total)
        rows.append((task, number(own[0].threshold), label(series), reached, *times))
    heads = ("task", "corrected QD score", "algorithm", "reached", "median time (s)", "95% interval (s)")
    return Table(columns=heads, rows=tuple(rows))


def _at_seconds(runs: dict[Run, list[Point]], seconds: Sequence[float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for task, series in dict.fromkeys(run[:2] for run in runs):
        own = [archives for run, archives in runs.items() if run[:2] == (task, series)]
        cells = []
        for second in seconds:
            known = [score for archives in own if not np.isnan(score := corrected_after(archives, second))]
            missing = f" ({len(known)} of {len(own)})" if 0 < len(known) < len(own) else ""
            cells.append(median_text(known, "qd_score") + missing if known else "")
        last = median_text([archives[-1].corrected_qd_score for archives in own], "qd_score")
        ended = f"{last} at {number(float(np.median([archives[-1].seconds for archives in own])))} s"
        rows.append((task, label(series), len(own), *cells, ended))
    heads = (*(f"corrected QD score at {second:g} s" for second in seconds), "last re-evaluated archive")
    return Table(columns=("task", "algorithm", "runs", *heads), rows=tuple(rows))
