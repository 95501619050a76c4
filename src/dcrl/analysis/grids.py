"""Figures with a row a task and a column a quantity: curves over runs, and how runs are distributed."""

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
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from dcrl.analysis.comparison import Curve
from dcrl.figures.style import COLOURS, DASHES, LABELS, STYLE, TEXT_WIDTH, label, rank, save

TITLES = {
    "qd_score": "QD score",
    "coverage": "coverage",
    "max_fitness": "max fitness",
    "expected_qd_score": "expected QD score",
    "expected_distance": "expected distance\nto descriptor",
    "expected_max_fitness": "expected max fitness",
}
ROW_HEIGHT = 1.5  # inches

Key = tuple[str, str, str]  # task, quantity, series


def short(value: float, _: int | None = None) -> str:
    """600 k rather than 600,000: panels are small."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}\N{THIN SPACE}{letter}"
    return f"{value:g}"


SHORT = FuncFormatter(short)


def curve_grid(curves: Mapping[Key, Curve], path: Path, x_label: str = "evaluations") -> None:
    """Medians as lines and quartiles as bands."""
    tasks, quantities, series = (_order(curves, place) for place in range(3))
    with plt.rc_context(STYLE):
        figure, axes = _panels(tasks, quantities)
        for (task, quantity, name), curve in curves.items():
            axis = axes[tasks.index(task), quantities.index(quantity)]
            colour, dash = look(name, series)
            few = "o" if len(curve.x) < 3 else ""
            axis.plot(curve.x, curve.median, color=colour, linestyle=dash, marker=few, markersize=3)
            if curve.runs > 1:
                axis.fill_between(curve.x, curve.lower_quartile, curve.upper_quartile, color=colour, alpha=0.18, lw=0)
        for row, task in enumerate(tasks):
            for column, quantity in enumerate(quantities):
                _scale(axes[row, column], quantity)
                axes[row, column].set_xlim(left=0)
                axes[row, column].xaxis.set_major_formatter(SHORT)
                axes[row, column].xaxis.set_major_locator(MaxNLocator(4))
                if not any((task, quantity, name) in curves for name in series):
                    _say(axes[row, column], "no such operator")
        for axis in axes[-1]:
            axis.set_xlabel(x_label)
        handles = [
            Line2D([], [], color=look(s, series)[0], linestyle=look(s, series)[1], label=label(s)) for s in series
        ]
        _legend(figure, handles)
        save(figure, path, pdf=True)


def box_grid(samples: Mapping[Key, Sequence[float]], path: Path) -> None:
    """A box from quartile to quartile, its line the median, whiskers to the last run within 1.5 boxes; a dot a run."""
    tasks, quantities, series = (_order(samples, place) for place in range(3))
    with plt.rc_context(STYLE):
        figure, axes = _panels(tasks, quantities, ROW_HEIGHT + 0.1)
        for (task, quantity, name), values in samples.items():
            axis, place = axes[tasks.index(task), quantities.index(quantity)], series.index(name)
            colour, _ = look(name, series)
            axis.boxplot(
                [list(values)],
                positions=[place],
                widths=0.6,
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": colour, "alpha": 0.3, "linewidth": 0.6},
                medianprops={"color": colour, "linewidth": 1.6},
                whiskerprops={"linewidth": 0.6},
                capprops={"linewidth": 0.6},
            )
            spread = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else [0.0]
            axis.plot(place + np.asarray(spread), values, ".", color=colour, markersize=3, markeredgewidth=0)
        for row, task in enumerate(tasks):
            for column, quantity in enumerate(quantities):
                axis = axes[row, column]
                _scale(axis, quantity)
                axis.set_xlim(-0.6, len(series) - 0.4)
                axis.set_xticks(range(len(series)), [label(name) for name in series], rotation=40, ha="right")
                axis.tick_params(labelbottom=row == len(tasks) - 1)
                if not any((task, quantity, name) in samples for name in series):
                    _say(axis, "not evaluated")
        save(figure, path, pdf=True)


def look(series: str, among: Sequence[str]) -> tuple[str, Any]:
    """A series' colour and dashes: its algorithm's own in every figure; a variant takes the next that is free."""
    algorithms = list(LABELS)
    algorithm = series.removesuffix(" actor")
    if algorithm in algorithms:
        place = algorithms.index(algorithm)
    else:
        taken = {algorithms.index(name) for name in among if name in algorithms}
        free = [place for place in range(len(COLOURS)) if place not in taken] or list(range(len(COLOURS)))
        others = [name for name in among if name not in algorithms]
        place = free[others.index(series) % len(free)]
    return COLOURS[place], DASHES[place]


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
        axes[0, column].set_title(TITLES.get(quantity, quantity))
    for row, task in enumerate(tasks):
        axes[row, 0].set_ylabel(task, fontweight="bold")
    return figure, axes


def _scale(axis: Axes, quantity: str) -> None:
    """From 0 on, unless values fall below; coverage as a share of all cells."""
    axis.grid(alpha=0.3, linewidth=0.5)
    if quantity == "coverage":
        axis.set_ylim(0, 1.05)
        axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        return
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.yaxis.set_major_formatter(SHORT)
    if axis.dataLim.y0 >= 0 and np.isfinite(axis.dataLim.y1):
        axis.set_ylim(0, max(1.08 * axis.dataLim.y1, 1e-9))


def _say(axis: Axes, text: str) -> None:
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color="0.45")


def _legend(figure: Figure, handles: list[Line2D]) -> None:
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(len(handles), 90 // (longest + 7)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, handlelength=2.6)
