"""The metrics of training as charts on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from dcrl.types import Floats

SHOWN = (("qd_score", "QD score"), ("coverage", "coverage"), ("max_fitness", "max fitness"))
POINTS = 400  # of a curve, at most
GREY = "#8592a0"  # readable on light and on dark


class Charts:
    """One chart a metric, over evaluations."""

    def __init__(self, metrics: dict[str, Floats]) -> None:
        ui.label("Training").classes("dcrl-heading")
        self.nothing = ui.label("This file comes without the metrics of its training.").classes("dcrl-about")
        with ui.element("div").classes("dcrl-charts"):
            self.charts = {name: ui.echart(_empty(title)).classes("dcrl-chart") for name, title in SHOWN}
        self.show(metrics)

    def show(self, metrics: dict[str, Floats]) -> None:
        self.nothing.set_visibility(not metrics)
        for name, chart in self.charts.items():
            there = {"evaluations", name} <= metrics.keys()
            chart.set_visibility(there)
            if there:
                chart.options["series"][0]["data"] = _points(metrics["evaluations"], metrics[name])
                chart.update()


def _points(x: Floats, y: Floats) -> list[list[float]]:
    """At most so many, the last among them; what is not finite is left out."""
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
    return [[float(x[i]), float(y[i])] for i in rows if np.isfinite(x[i]) and np.isfinite(y[i])]


def _empty(title: str) -> dict[str, Any]:
    axis = {
        "type": "value",
        "axisLabel": {"color": GREY, "hideOverlap": True},
        "splitLine": {"lineStyle": {"opacity": 0.2}},
    }
    return {
        "animation": False,
        "title": {"text": title, "textStyle": {"fontSize": 13, "fontWeight": 500, "color": GREY}, "left": 0, "top": 0},
        "grid": {"left": 4, "right": 22, "top": 30, "bottom": 4, "containLabel": True},
        "tooltip": {"trigger": "axis", "confine": True},
        "xAxis": {**axis, "splitNumber": 2},
        "yAxis": {**axis, "splitNumber": 2},
        "series": [{"type": "line", "name": title, "showSymbol": False, "data": [], "color": "#1c7ed6"}],
    }
