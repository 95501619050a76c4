"""The metrics that a report compares: what each is called, and whether more or less of it is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number of a run. `field` is its name in an evaluation's `totals.json`, for metrics of re-evaluated archives."""

    name: str
    title: str
    higher_is_better: bool = True
    is_share: bool = False  # shown in percent
    field: str | None = None

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(name="qd_score", title="QD score"),
        Metric(name="coverage", title="coverage", is_share=True),
        Metric(name="max_fitness", title="max fitness"),
        Metric(name="expected_qd_score", title="expected QD score", field="expected_qd_score"),
        Metric(
            name="expected_distance",
            title="expected distance to descriptor",
            higher_is_better=False,
            field="expected_distance_to_centroid",
        ),
        Metric(name="expected_max_fitness", title="expected max fitness", field="expected_max_fitness"),
        Metric(name="corrected_qd_score", title="corrected QD score", field="corrected_qd_score"),
    )
}
STORED = tuple(name for name, metric in METRICS.items() if metric.field is None)  # columns of metrics.csv
RE_EVALUATED = tuple(name for name, metric in METRICS.items() if metric.field is not None)
# The paper's three expected metrics are tested; the corrected QD score is shown beside them.
TESTED = (*STORED, "expected_qd_score", "expected_distance", "expected_max_fitness")


def title(name: str) -> str:
    """How a figure or a sentence names a metric, or a quantity that is none."""
    return METRICS[name].title if name in METRICS else name


def number(value: float, name: str = "", digits: int = 0) -> str:
    """A metric's value for people: shares in percent, others to 3 significant digits or whole; `digits` adds more."""
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "infinite"
    if name in METRICS and METRICS[name].is_share:
        return f"{value:.{1 + digits}%}"
    return f"{value:,.{digits}f}" if abs(value) >= 100 else f"{value:.{3 + digits}g}"


def ranking(values: dict[str, float], name: str) -> str:
    """Names and values from the best to the worst, with as many digits as tell them apart; equal ones share a rank."""
    better = -1 if name not in METRICS or METRICS[name].higher_is_better else 1
    ranks: dict[float, list[str]] = {}
    for who, value in sorted(values.items(), key=lambda item: better * item[1]):
        ranks.setdefault(value, []).append(who)
    return ", ".join(f"{' = '.join(who)} {_distinct(value, list(ranks), name)}" for value, who in ranks.items())


def _distinct(value: float, among: Sequence[float], name: str) -> str:
    """A value with as many digits as tell it from the others."""
    others = [other for other in among if other != value]
    texts = (number(value, name, digits) for digits in range(12))
    return next(
        (text for digits, text in enumerate(texts) if all(number(other, name, digits) != text for other in others)),
        repr(value),
    )
