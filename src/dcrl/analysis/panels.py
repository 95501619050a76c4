"""Figures that are no grids: tests as a coloured table, archives on one colour scale, statistics across tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from dcrl.analysis.across import Estimate, Profile
from dcrl.analysis.comparison import Test
from dcrl.analysis.grids import legend_handles, look, save_themed
from dcrl.analysis.metrics import METRICS, title
from dcrl.analysis.statistics import SIGNIFICANT
from dcrl.figures.maps import draw_map, span
from dcrl.figures.style import LIGHT, STYLE, TEXT_WIDTH, Theme, label
from dcrl.repertoires.repertoire import Repertoire

ACROSS = 4  # maps per row
ROW = 0.32  # inches, of a table


def family_matrix(tests: Sequence[Test], path: Path, theme: Theme = LIGHT) -> None:
    """One row per task and metric, one column per series: the colour says how often the reference is better."""
    rows = list(dict.fromkeys((test.task, test.metric) for test in tests))
    columns = list(dict.fromkeys(test.other for test in tests))
    share = np.full((len(rows), len(columns)), np.nan)
    for test in tests:
        share[rows.index((test.task, test.metric)), columns.index(test.other)] = test.share_better
    with plt.rc_context(STYLE | theme.rc):
        figure, axes = plt.subplots(figsize=(TEXT_WIDTH, ROW * len(rows) + 1.5), layout="constrained")
        middle = plt.get_cmap("PuOr")(np.linspace(0.2, 0.8, 256))  # its ends are too dark to read numbers on
        colours = ListedColormap(middle).with_extremes(bad=theme.background)
        drawn = axes.imshow(np.ma.masked_invalid(share), vmin=0, vmax=1, cmap=colours, aspect="auto")
        for test in tests:
            row, column = rows.index((test.task, test.metric)), columns.index(test.other)
            weight = "bold" if test.corrected_p < SIGNIFICANT else "normal"
            centred: dict[str, Any] = {"ha": "center", "va": "center", "color": "black"}
            axes.text(column, row - 0.18, p_value(test.corrected_p), fontsize=7.5, fontweight=weight, **centred)
            axes.text(column, row + 0.25, f"{test.share_better:.2f}", fontsize=6, **centred)
        axes.set_xticks(range(len(columns)), [label(name).replace(" ", "\n", 1) for name in columns])
        axes.xaxis.tick_top()
        axes.set_yticks(range(len(rows)), [_row_label(task, metric) for task, metric in rows])
        axes.tick_params(length=0)
        bar = figure.colorbar(drawn, ax=axes, shrink=min(1.0, 3 / (ROW * len(rows) + 0.1)))
        bar.set_label(f"share of pairs in which\n{label(tests[0].reference)} is better")
        save_themed(figure, path, theme)


def _row_label(task: str, metric: str) -> str:
    return f"{task}  {title(metric)}" + ("" if METRICS[metric].higher_is_better else " (lower is better)")


def p_value(p: float) -> str:
    """A p value for people."""
    return f"{p:.2g}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")


def archive_maps(repertoires: Mapping[str, Repertoire], path: Path, theme: Theme = LIGHT) -> None:
    """One map per series, all of one task, on one colour scale."""
    fitness = {name: np.where(r.occupied, r.fitness, np.nan) for name, r in repertoires.items()}
    norm = span(*fitness.values())
    nested = next(iter(repertoires.values())).space.size > 2
    across = min(2 if nested else ACROSS, len(repertoires))
    down = -(-len(repertoires) // across)
    size = (TEXT_WIDTH - 0.7) / (2 if nested else ACROSS)
    with plt.rc_context(STYLE | theme.rc):
        figure, axes = plt.subplots(
            down, across, figsize=(size * across + 0.9, (size + 0.35) * down), squeeze=False, layout="constrained"
        )
        drawn = None
        for place, (name, repertoire) in enumerate(repertoires.items()):
            axis = axes[divmod(place, across)]
            drawn = draw_map(axis, repertoire.space, repertoire.centroids, fitness[name], norm, theme=theme)
            axis.set_title(f"{label(name)}, seed {repertoire.seed}")
            across_label, up_label = axis.get_xlabel(), axis.get_ylabel()
            axis.set(xlabel="", ylabel="")  # once for all, below
            axis.tick_params(labelleft=not place % across, labelbottom=place + across >= len(repertoires))
        for place in range(len(repertoires), down * across):
            axes[divmod(place, across)].set_axis_off()
        if drawn is not None:
            figure.supxlabel(across_label, fontsize=8)
            if repertoire.space.size > 1:
                figure.supylabel(up_label.replace(" (", "\n("), fontsize=8)
            figure.colorbar(drawn, ax=axes, aspect=30).set_label("fitness (sum of rewards)")
        save_themed(figure, path, theme)


def profile_figure(profiles: Mapping[tuple[str, str], Profile], path: Path, theme: Theme = LIGHT) -> None:
    """Performance profiles, one panel per metric, keyed by metric and series."""
    metrics = list(dict.fromkeys(metric for metric, _ in profiles))
    series = list(dict.fromkeys(name for _, name in profiles))
    with plt.rc_context(STYLE | theme.rc):
        figure, axes = plt.subplots(
            1, len(metrics), figsize=(TEXT_WIDTH, 2.5), squeeze=False, layout="constrained", sharey=True
        )
        for (metric, name), profile in profiles.items():
            axis = axes[0, metrics.index(metric)]
            colour, dash = look(name, series, theme)
            axis.plot(profile.thresholds, profile.share, color=colour, linestyle=dash)
            axis.fill_between(profile.thresholds, profile.low, profile.high, color=colour, alpha=0.15, lw=0)
        for axis, metric in zip(axes[0], metrics, strict=True):
            axis.set(title=title(metric), xlabel="normalised score", xlim=(0, 1), ylim=(0, 1.02))
            axis.grid(alpha=0.3, linewidth=0.5)
        axes[0, 0].set_ylabel("share of runs above")
        handles = legend_handles(series, theme)
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6), frameon=False)
        save_themed(figure, path, theme)


def interval_figure(
    estimates: Mapping[tuple[str, str], Estimate],
    path: Path,
    theme: Theme = LIGHT,
    *,
    x_label: str,
    middle: float | None = None,
) -> None:
    """Estimates with their intervals as horizontal bars, one panel per metric; a line marks the `middle`."""
    metrics = list(dict.fromkeys(metric for metric, _ in estimates))
    series = list(dict.fromkeys(name for _, name in estimates))
    with plt.rc_context(STYLE | theme.rc):
        size = (TEXT_WIDTH, 0.28 * len(series) + 0.9)
        figure, axes = plt.subplots(1, len(metrics), figsize=size, squeeze=False, layout="constrained", sharey=True)
        for (metric, name), found in estimates.items():
            axis, row = axes[0, metrics.index(metric)], series.index(name)
            colour, _ = look(name, series, theme)
            if np.isfinite(found.low):
                axis.barh(row, found.high - found.low, left=found.low, height=0.6, color=colour, alpha=0.35)
            axis.plot([found.value] * 2, [row - 0.3, row + 0.3], color=colour, linewidth=2)
        for axis, metric in zip(axes[0], metrics, strict=True):
            if middle is not None:
                axis.axvline(middle, color=theme.ink, linewidth=0.6, alpha=0.6)
            axis.set(title=title(metric), xlim=(0, 1.02))
            axis.grid(axis="x", alpha=0.3, linewidth=0.5)
        axes[0, 0].set_yticks(range(len(series)), [label(name) for name in series])
        axes[0, 0].invert_yaxis()
        figure.supxlabel(x_label, fontsize=8)
        save_themed(figure, path, theme)
