"""Seconds per generation against sizes, on logarithmic axes: a line of slope 1 is linear growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from dcrl.figures.style import COLOURS, save

Curves = Mapping[str, Sequence[tuple[int, float]]]  # a stage's sizes and seconds


def growth_figure(axes: Mapping[str, Curves], path: Path) -> None:
    """Draw one panel per axis of growth, one line per stage, and linear growth through the first point of the whole."""
    figure, panels = plt.subplots(1, len(axes), figsize=(3 * len(axes), 3), layout="constrained", squeeze=False)
    for panel, (name, curves) in zip(panels[0], axes.items(), strict=True):
        for number, (stage, points) in enumerate(curves.items()):
            sizes, seconds = np.array(points).T
            whole = stage == "generation"
            panel.loglog(
                sizes,
                seconds,
                color="black" if whole else COLOURS[number % len(COLOURS)],
                linewidth=2 if whole else 1,
                marker=".",
                label=stage,
            )
            if whole:
                panel.loglog(sizes, seconds[0] * sizes / sizes[0], color="0.6", linestyle=":", label="linear")
        panel.set_xlabel(name)
        panel.set_xticks(sizes)
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.tick_params(axis="x", labelrotation=45)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("seconds per generation")
    lines, names = panels[0][-1].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), fontsize=7, frameon=False)
    save(figure, path)
