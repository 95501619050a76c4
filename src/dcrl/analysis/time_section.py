"""The section of a report on wall time: time to a QD score, and the QD score after so many seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcrl.analysis import captions
from dcrl.analysis.collection import Collection
from dcrl.analysis.grids import Key
from dcrl.analysis.metrics import number
from dcrl.analysis.page import Part
from dcrl.analysis.tables import Cell, Table, median_text
from dcrl.analysis.time_words import interval_text, median_time_text
from dcrl.analysis.times import ended_by, reach, score_after, time_to_threshold
from dcrl.analysis.writer import Writer
from dcrl.figures.style import label


def thresholds(
    runs: Collection, samples: Mapping[Key, Sequence[float]], reference: str, given: float | None
) -> dict[str, float]:
    """For each task the QD score to reach: as given, or the final median of the reference, where it has finished."""
    if given is not None:
        return dict.fromkeys(runs.tasks, given)
    own = {task: samples.get((task, "qd_score", reference)) for task in runs.tasks}
    return {task: float(np.median(sample)) for task, sample in own.items() if sample is not None}


def times(
    runs: Collection,
    wanted: Mapping[str, float],
    seconds: Sequence[float],
    write: Writer,
    *,
    reference: str | None,
) -> tuple[Part, ...]:
    """All runs, also unfinished ones; `reference` is the series whose final median is the threshold, if it is that."""
    parts: list[Part] = []
    if wanted:
        said = "as given" if reference is None else f"the median final QD score of {label(reference)}"
        parts += [f"Time to a QD score. The threshold is {said}.", _threshold_table(runs, wanted, write)]
        parts.append(captions.THRESHOLD)
    if seconds:
        parts += [_score_table(runs, seconds, write), captions.AT_SECONDS]
    return tuple(parts)


def _threshold_table(runs: Collection, wanted: Mapping[str, float], write: Writer) -> Table:
    found = [reach(record, wanted[record.task]) for record in runs.records if record.task in wanted]
    columns = ("task", "series", "seed", "threshold", "seconds", "reached")
    rows = tuple((*(getattr(one, name) for name in columns[:-1]), int(one.reached)) for one in found)
    write.table("time_to_threshold", Table(columns=columns, rows=rows))
    texts: list[tuple[Cell, ...]] = []
    for task, threshold in wanted.items():
        for series in runs.series:
            own = [one for one in found if (one.task, one.series) == (task, series)]
            if own:
                total = time_to_threshold(own)
                reached = f"{total.reached} of {total.runs}"
                texts.append(
                    (task, number(threshold), label(series), reached, median_time_text(total), interval_text(total))
                )
    heads = ("task", "QD score", "algorithm", "reached", "median time (s)", "95% interval (s)")
    return Table(columns=heads, rows=tuple(texts))


def _score_table(runs: Collection, seconds: Sequence[float], write: Writer) -> Table:
    rows = tuple(
        (record.task, record.series, record.seed, second, score_after(record, second), int(ended_by(record, second)))
        for record in runs.records
        for second in seconds
    )
    columns = ("task", "series", "seed", "seconds", "qd_score", "ended_earlier")
    write.table("qd_score_at_seconds", Table(columns=columns, rows=rows))
    texts: list[tuple[Cell, ...]] = []
    for task in runs.tasks:
        for series in runs.series:
            own = runs.of(task, series)
            if own:
                cells = [
                    median_text([score_after(record, second) for record in own], "qd_score")
                    + " †" * all(ended_by(record, second) for record in own)
                    for second in seconds
                ]
                texts.append((task, label(series), len(own), *cells))
    heads = ("task", "algorithm", "runs", *(f"QD score at {second:g} s" for second in seconds))
    return Table(columns=heads, rows=tuple(texts))
