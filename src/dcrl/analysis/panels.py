"""Two more figures of a report: tests as a coloured table, and archives side by side on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from dcrl.analysis.comparison import Test
from dcrl.analysis.grids import TITLES
from dcrl.analysis.statistics import SIGNIFICANT
from dcrl.figures.maps import draw_map, span
from dcrl.figures.style import STYLE, TEXT_WIDTH, label, save
from dcrl.repertoires.repertoire import Repertoire

ACROSS = 4  # maps in a row
ROW = 0.32  # inches, of a table


def matrix(tests: Sequence[Test], path: Path) -> None:
    """A row a task and metric, a column a series: coloured by how often the reference is greater, with p inside."""
    rows = list(dict.fromkeys((test.task, test.metric) for test in tests))
    columns = list(dict.fromkeys(test.other for test in tests))
    share = np.full((len(rows), len(columns)), np.nan)
    for test in tests:
        share[rows.index((test.task, test.metric)), columns.index(test.other)] = test.found.superiority
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(TEXT_WIDTH, ROW * len(rows) + 1.5), layout="constrained")
        middle = plt.get_cmap("PuOr")(np.linspace(0.2, 0.8, 256))  # its ends are too dark to read numbers on
        colours = ListedColormap(middle).with_extremes(bad="0.93")
        drawn = axes.imshow(np.ma.masked_invalid(share), vmin=0, vmax=1, cmap=colours, aspect="auto")
        for test in tests:
            row, column = rows.index((test.task, test.metric)), columns.index(test.other)
            sure = test.corrected_p < SIGNIFICANT
            axes.text(
                column,
                row - 0.18,
                said(test.corrected_p),
                ha="center",
                va="center",
                fontsize=7.5,
                fontweight="bold" if sure else "normal",
            )
            axes.text(column, row + 0.25, f"{test.found.superiority:.2f}", ha="center", va="center", fontsize=6)
        axes.set_xticks(range(len(columns)), [label(name).replace(" ", "\n", 1) for name in columns])
        axes.xaxis.tick_top()
        axes.set_yticks(range(len(rows)), [f"{task}  {' '.join(TITLES[metric].split())}" for task, metric in rows])
        axes.tick_params(length=0)
        bar = figure.colorbar(drawn, ax=axes, shrink=min(1.0, 3 / (ROW * len(rows) + 0.1)))
        bar.set_label(f"share of pairs in which\n{label(tests[0].reference)} is greater")
        save(figure, path, pdf=True)


def said(p: float) -> str:
    """A p value for people."""
    return f"{p:.2g}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")


def archive_maps(repertoires: Mapping[str, Repertoire], path: Path) -> None:
    """One map a series, all of one task, on one colour scale."""
    fitness = {name: np.where(r.occupied, r.fitness, np.nan) for name, r in repertoires.items()}
    norm = span(*fitness.values())
    nested = next(iter(repertoires.values())).space.size > 2
    across = min(2 if nested else ACROSS, len(repertoires))
    down = -(-len(repertoires) // across)
    size = (TEXT_WIDTH - 0.7) / (2 if nested else ACROSS)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            down, across, figsize=(size * across + 0.9, (size + 0.35) * down), squeeze=False, layout="constrained"
        )
        drawn = None
        for place, (name, repertoire) in enumerate(repertoires.items()):
            axis = axes[divmod(place, across)]
            drawn = draw_map(axis, repertoire.space, repertoire.centroids, fitness[name], norm)
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
        save(figure, path, pdf=True)
