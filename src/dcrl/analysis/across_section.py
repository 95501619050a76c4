"""The section of a report across tasks: interquartile means, performance profiles, probability of improvement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dcrl.analysis import captions, panels, wording
from dcrl.analysis.across import Estimate, Profile, interquartile_mean, normalise, probability_of_improvement, profile
from dcrl.analysis.grids import Key
from dcrl.analysis.metrics import STORED, title
from dcrl.analysis.page import Part, Picture
from dcrl.analysis.statistics import FEWEST_FOR_INTERVAL
from dcrl.analysis.tables import Cell, Table
from dcrl.analysis.writer import Writer
from dcrl.figures.style import label, rank

Estimates = dict[tuple[str, str], Estimate]  # metric, series


def across_tasks(samples: Mapping[Key, Sequence[float]], references: Sequence[str], write: Writer) -> tuple[Part, ...]:
    """Nothing with a single task. A series that lacks a finished run on any task is left out with a remark.

    Tasks with too few runs for an interval are left out if two others have enough.
    """
    every_task = list(dict.fromkeys(task for task, _, _ in samples))
    if len(every_task) < 2:
        return ()
    most = {task: max(len(runs) for (own, _, _), runs in samples.items() if own == task) for task in every_task}
    enough = [task for task in every_task if most[task] >= FEWEST_FOR_INTERVAL]
    tasks = enough if len(enough) >= 2 else every_task
    write.remarks.extend(wording.too_few(task) for task in every_task if task not in tasks)
    every = sorted(dict.fromkeys(series for task, _, series in samples if task in tasks), key=rank)
    missing = {name: [task for task in tasks if (task, STORED[0], name) not in samples] for name in every}
    series = [name for name in every if not missing[name]]
    write.remarks.extend(wording.incomplete(name, gaps) for name, gaps in missing.items() if gaps)
    if not series:
        return ("No algorithm has finished runs on all tasks, so there are no statistics across tasks.",)
    raw = {
        metric: {name: {task: samples.get((task, metric, name), []) for task in tasks} for name in series}
        for metric in STORED
    }
    raw = {metric: own for metric, own in raw.items() if all(v for by in own.values() for v in by.values())}
    scores = {metric: normalise(own) for metric, own in raw.items()}
    means = {(metric, name): interquartile_mean(scores[metric][name]) for metric in scores for name in series}
    draw = partial(panels.interval_figure, means, x_label="interquartile mean of normalised scores")
    parts: list[Part] = [
        captions.ACROSS,
        write("across_iqm", captions.IQM, draw, _table(means, "interquartile_mean")),
        _text(means, series),
        _profiles({(metric, name): profile(scores[metric][name]) for metric in scores for name in series}, write),
    ]
    for reference in (name for name in references if name in series and len(series) > 1):
        found = {
            (metric, name): probability_of_improvement(raw[metric][reference], raw[metric][name])
            for metric in raw
            for name in series
            if name != reference
        }
        draw = partial(panels.interval_figure, found, x_label=f"P({label(reference)} is higher)", middle=0.5)
        table = _table(found, "probability_of_improvement")
        parts.append(write(f"across_improvement_{reference}", wording.improvement(reference), draw, table))
    return tuple(parts)


def _profiles(profiles: Mapping[tuple[str, str], Profile], write: Writer) -> Picture:
    columns = ("metric", "series", "normalised_score", "share_of_runs_above", "ci_low", "ci_high")
    rows = tuple(
        (*key, *point)
        for key, found in profiles.items()
        for point in np.stack([found.thresholds, found.share, found.low, found.high], axis=1).tolist()
    )
    table = Table(columns=columns, rows=rows)
    return write("across_profiles", captions.PROFILES, partial(panels.profile_figure, profiles), table)


def _table(found: Estimates, what: str) -> Table:
    rows = tuple((*key, one.value, one.low, one.high) for key, one in found.items())
    return Table(columns=("metric", "series", what, "ci_low", "ci_high"), rows=rows)


def _text(found: Estimates, series: Sequence[str]) -> Table:
    """One row per series: the interquartile mean with its interval, per metric."""
    metrics = list(dict.fromkeys(metric for metric, _ in found))
    rows: list[tuple[Cell, ...]] = [(label(name), *(_said(found[m, name]) for m in metrics)) for name in series]
    return Table(columns=("algorithm", *(f"{title(m)}, IQM (95% CI)" for m in metrics)), rows=tuple(rows))


def _said(one: Estimate) -> str:
    return f"{one.value:.2f}" + ("" if math.isnan(one.low) else f" ({one.low:.2f} to {one.high:.2f})")
