"""Pictures of a run's metrics over evaluations, from arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from dcrl.figures.series import operators_of
from dcrl.figures.style import COLOURS, save
from dcrl.types import Floats

THOUSANDS = StrMethodFormatter("{x:,.0f}")


def metric_curves(metrics: Mapping[str, Floats], path: Path) -> None:
    """Draw QD score, coverage and max fitness over evaluations; `metrics` maps columns of `metrics.csv` to arrays."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    for axis, name, label in zip(
        axes,
        ("qd_score", "coverage", "max_fitness"),
        ("QD score", "coverage (share of cells)", "max fitness"),
        strict=True,
    ):
        axis.plot(
            metrics["evaluations"], metrics[name], color=COLOURS[0], marker="." if len(metrics[name]) < 20 else ""
        )
        _label(axis, label)
        if name == "coverage":
            axis.set_ylim(0, 1.05)
    save(figure, path)


def improvement_curves(metrics: Mapping[str, Floats], path: Path) -> None:
    """Draw the cumulative improvement, and the offspring added, of each operator."""
    operators = operators_of(metrics)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, what, label in zip(
        axes, ("improvement", "added"), ("fitness gained, in total", "offspring added, in total"), strict=True
    ):
        for operator, colour in zip(operators, COLOURS, strict=False):
            axis.plot(metrics["evaluations"], np.cumsum(metrics[f"{what}_{operator}"]), color=colour, label=operator)
        _label(axis, label)
    axes[0].legend(title="operator")
    save(figure, path)


def _label(axis: Axes, label: str) -> None:
    """Axes from 0, unless values fall below."""
    axis.set_xlabel("evaluations")
    axis.set_ylabel(label)
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0] if axis.dataLim.y0 < 0 else 0.0))
    axis.set_ylim(top=max(axis.get_ylim()[1], 1.05 * axis.dataLim.y1))  # a flat line is not the frame
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.xaxis.set_major_formatter(THOUSANDS)
    if axis.get_ylim()[1] >= 1000:
        axis.yaxis.set_major_formatter(THOUSANDS)
    axis.grid(alpha=0.3)
