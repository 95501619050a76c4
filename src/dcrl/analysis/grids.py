"""Figures with one row per task and one column per quantity: curves over runs, and distributions of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from dcrl.analysis.comparison import Curve
from dcrl.analysis.metrics import METRICS, title
from dcrl.figures.series import elites_series
from dcrl.figures.style import COLOURS, DASHES, LABELS, LIGHT, STYLE, TEXT_WIDTH, Theme, label, rank, save

DPI = 200
ROW_HEIGHT = 1.5  # inches
LOG_FROM = 3.0  # a time axis is logarithmic if one series took so many times as long as another

Key = tuple[str, str, str]  # task, quantity, series


def short(value: float, _: int | None = None) -> str:
    """600 k rather than 600,000: panels are small."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}\N{THIN SPACE}{letter}"
    return f"{value:g}"


SHORT = FuncFormatter(short)


def curve_grid(
    curves: Mapping[Key, Curve], path: Path, theme: Theme = LIGHT, *, x_label: str = "evaluations", log: bool = False
) -> None:
    """Medians as lines, with their bands; `log` allows a logarithmic x axis where linear would hide the fast series."""
    tasks, quantities, series = (_order(curves, place) for place in range(3))
    with plt.rc_context(STYLE | theme.rc):
        figure, axes = _panels(tasks, quantities)
        for (task, quantity, name), curve in curves.items():
            axis = axes[tasks.index(task), quantities.index(quantity)]
            colour, dash = look(name, series, theme)
            few = "o" if len(curve.x) < 3 else ""
            axis.plot(curve.x, curve.median, color=colour, linestyle=dash, marker=few, markersize=3)
            if curve.runs > 1:
                axis.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.18, lw=0)
        for row, task in enumerate(tasks):
            own = {key: curve for key, curve in curves.items() if key[0] == task}
            for column, quantity in enumerate(quantities):
                _scale(axes[row, column], quantity)
                _x_scale(axes[row, column], list(own.values()), log=log)
                if not any((task, quantity, name) in curves for name in series):
                    _say(axes[row, column], "no such operator", theme)
        for axis in axes[-1]:
            axis.set_xlabel(x_label)
        _legend(figure, series, theme)
        save_themed(figure, path, theme)


def box_grid(samples: Mapping[Key, Sequence[float]], path: Path, theme: Theme = LIGHT) -> None:
    """Boxes from quartile to quartile with the median, whiskers to the last run within 1.5 boxes, and runs as dots."""
    tasks, quantities, series = (_order(samples, place) for place in range(3))
    with plt.rc_context(STYLE | theme.rc):
        figure, axes = _panels(tasks, quantities, ROW_HEIGHT + 0.2)
        for (task, quantity, name), values in samples.items():
            axis, place = axes[tasks.index(task), quantities.index(quantity)], series.index(name)
            colour, _ = look(name, series, theme)
            if len(values) > 1:
                axis.boxplot(
                    [list(values)],
                    positions=[place],
                    widths=0.7,
                    showfliers=False,
                    patch_artist=True,
                    boxprops={"facecolor": colour, "alpha": 0.3, "linewidth": 0.6},
                    medianprops={"color": colour, "linewidth": 1.6},
                    whiskerprops={"linewidth": 0.6},
                    capprops={"linewidth": 0.6},
                )
            spread = np.linspace(-0.2, 0.2, len(values)) if len(values) > 1 else [0.0]
            dots = {"markersize": 3.6, "markeredgewidth": 0.5, "markeredgecolor": theme.ink, "zorder": 3}
            axis.plot(place + np.asarray(spread), values, "o", color=colour, **dots)
        for row, task in enumerate(tasks):
            for column, quantity in enumerate(quantities):
                axis = axes[row, column]
                _scale(axis, quantity)
                axis.set_xlim(-0.6, len(series) - 0.4)
                axis.set_xticks(range(len(series)), [label(name) for name in series], rotation=40, ha="right")
                axis.tick_params(labelbottom=row == len(tasks) - 1)
                if not any((task, quantity, name) in samples for name in series):
                    _say(axis, "not evaluated", theme)
        save_themed(figure, path, theme)


def save_themed(figure: Figure, path: Path, theme: Theme) -> None:
    """Write a figure under its theme's file name; the light one is also a PDF."""
    save(figure, path.with_stem(path.stem + theme.suffix), pdf=theme is LIGHT, dpi=DPI)


def look(series: str, among: Sequence[str], theme: Theme = LIGHT) -> tuple[str, Any]:
    """A series' colour and dashes: its algorithm's own in every figure; a variant takes the next free one."""
    algorithms = list(LABELS)
    algorithm = elites_series(series)
    if algorithm in algorithms:
        place = algorithms.index(algorithm)
    else:
        taken = {algorithms.index(name) for name in among if name in algorithms}
        free = [place for place in range(len(COLOURS)) if place not in taken] or list(range(len(COLOURS)))
        others = [name for name in among if name not in algorithms]
        place = free[others.index(series) % len(free)]
    return theme.visible(COLOURS[place]), DASHES[place]


def legend_handles(series: Sequence[str], theme: Theme) -> list[Line2D]:
    looks = {name: look(name, series, theme) for name in series}
    return [Line2D([], [], color=c, linestyle=dash, label=label(name)) for name, (c, dash) in looks.items()]


def _order(keys: Mapping[Key, Any], place: int) -> list[str]:
    found = dict.fromkeys(key[place] for key in keys)
    return sorted(found, key=rank) if place == 2 else list(found)


def _panels(tasks: list[str], quantities: list[str], height: float = ROW_HEIGHT) -> tuple[Figure, Any]:
    figure, axes = plt.subplots(
        len(tasks),
        len(quantities),
        figsize=(TEXT_WIDTH, height * len(tasks) + 0.75),
        squeeze=False,
        layout="constrained",
        sharex=False,
    )
    for column, quantity in enumerate(quantities):
        metric = METRICS.get(quantity)
        lower = "" if metric is None or metric.higher_is_better else f"\n({metric.direction})"
        axes[0, column].set_title(title(quantity).replace(" to ", "\nto ") + lower)
    for row, task in enumerate(tasks):
        axes[row, 0].set_ylabel(task if len(task) <= 20 else task[:19] + "…", fontweight="bold")
    return figure, axes


def _scale(axis: Axes, quantity: str) -> None:
    """From 0 on, unless values fall below; coverage as a share of all cells."""
    axis.grid(alpha=0.3, linewidth=0.5)
    if quantity in METRICS and METRICS[quantity].is_share:
        axis.set_ylim(0, 1.05)
        axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        return
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.yaxis.set_major_formatter(SHORT)
    if axis.dataLim.y0 >= 0 and np.isfinite(axis.dataLim.y1):
        axis.set_ylim(0, max(1.08 * axis.dataLim.y1, 1e-9))


def _x_scale(axis: Axes, curves: Sequence[Curve], *, log: bool) -> None:
    """Linear from 0; logarithmic, if allowed, where the longest series is several times as long as the shortest."""
    ends = [curve.x[-1] for curve in curves if len(curve.x) and curve.x[-1] > 0]
    firsts = [curve.x[curve.x > 0][0] for curve in curves if (curve.x > 0).any()]
    if log and ends and max(ends) > LOG_FROM * min(ends):
        axis.set_xscale("log")
        axis.set_xlim(0.9 * min(firsts), 1.1 * max(ends))
        narrow = max(ends) < 100 * min(firsts)
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if narrow else (1.0,)))
        axis.xaxis.set_minor_formatter(NullFormatter())
    else:
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(4))
    axis.xaxis.set_major_formatter(SHORT)


def _say(axis: Axes, text: str, theme: Theme) -> None:
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color=theme.ink, alpha=0.6)


def _legend(figure: Figure, series: Sequence[str], theme: Theme) -> None:
    handles = legend_handles(series, theme)
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(len(handles), 90 // (longest + 7)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, handlelength=2.6)
