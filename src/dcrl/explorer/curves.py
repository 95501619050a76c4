"""The metrics of training as charts on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from dcrl.types import Floats

SHOWN = (("qd_score", "QD score"), ("coverage", "coverage"), ("max_fitness", "max fitness"))
POINTS = 400  # of a curve, at most
SHORT = "(n) => (n >= 1e6 ? `${n / 1e6} M` : n >= 1e3 ? `${n / 1e3} k` : n)"  # 7,500 as 7.5 k
GREY = "#8592a0"  # readable on light and on dark


class Charts:
    """One chart per metric, over evaluations."""

    def __init__(self, metrics: dict[str, Floats]) -> None:
        ui.label("Training").classes("dcrl-heading")
        self.nothing = ui.label("This file has no training metrics.").classes("dcrl-about")
        with ui.element("div").classes("dcrl-charts"):
            self.charts = {name: ui.echart(chart_options(title)).classes("dcrl-chart") for name, title in SHOWN}
        self.show(metrics)

    def show(self, metrics: dict[str, Floats]) -> None:
        self.nothing.set_visibility(not metrics)
        for name, chart in self.charts.items():
            there = {"evaluations", name} <= metrics.keys()
            chart.set_visibility(there)
            if there:
                chart.options["series"][0]["data"] = _points(metrics["evaluations"], metrics[name])
                chart.options["xAxis"] |= evaluations_axis(metrics["evaluations"])
                chart.update()


def _points(x: Floats, y: Floats) -> list[list[float]]:
    """At most so many, the last among them; what is not finite is left out."""
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
    return [[float(x[i]), float(y[i])] for i in rows if np.isfinite(x[i]) and np.isfinite(y[i])]


def evaluations_axis(evaluations: Floats) -> dict[str, float]:
    """The same axis for every chart, from 0 on, with ticks at the same round numbers: three, so that all fit."""
    most = max(2.0, float(np.nanmax(evaluations, initial=0.0)))
    power = 10.0 ** np.floor(np.log10(most / 2))
    step = next(factor * power for factor in (5, 4, 3, 2, 1) if factor * power * 2 <= most)
    return {"min": 0, "max": most, "interval": float(step)}


def chart_options(title: str) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "type": "value",
        "axisLabel": {"color": GREY, "hideOverlap": True},
        "splitLine": {"lineStyle": {"opacity": 0.2}},
    }
    return {
        "animation": False,
        "title": {"text": title, "textStyle": {"fontSize": 13, "fontWeight": 500, "color": GREY}, "left": 0, "top": 0},
        "grid": {"left": 4, "right": 22, "top": 30, "bottom": 20, "containLabel": True},
        "tooltip": {"trigger": "axis", "confine": True},
        "xAxis": {
            **axis,
            "axisLabel": {**axis["axisLabel"], ":formatter": SHORT},
            "name": "evaluations",
            "nameLocation": "middle",
            "nameGap": 24,
            "nameTextStyle": {"color": GREY, "fontSize": 12},
        },
        "yAxis": {**axis, "splitNumber": 2},
        "series": [{"type": "line", "name": title, "showSymbol": False, "data": [], "color": "#1c7ed6"}],
    }
