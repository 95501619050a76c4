"""Metrics: their directions, and how they are ranked and written."""

from __future__ import annotations

import pytest

from dcrl.analysis.metrics import METRICS, number, ranking
from dcrl.evaluation.reproducibility import Totals


def test_only_the_distance_is_better_when_lower():
    assert [name for name, metric in METRICS.items() if not metric.higher_is_better] == ["expected_distance"]


def test_metrics_of_re_evaluated_archives_are_fields_of_the_totals():
    fields = {metric.field for metric in METRICS.values() if metric.field}
    assert fields <= set(Totals.__annotations__)


@pytest.mark.parametrize(
    ("values", "metric", "text"),
    [
        ({"A": 700.0, "B": 900.0}, "qd_score", "B 900, A 700"),
        ({"A": 0.2, "B": 0.3}, "expected_distance", "A 0.2, B 0.3"),
        ({"A": 0.5, "B": 0.9401, "C": 0.9402}, "coverage", "C 94.02%, B 94.01%, A 50.0%"),
        ({"A": 900.0, "B": 900.0, "C": 1.0}, "qd_score", "A = B 900, C 1"),
        ({"A": 1000.04, "B": 1000.0}, "qd_score", "A 1,000.04, B 1,000.00"),
    ],
)
def test_a_ranking_is_best_first_and_tells_values_apart(values, metric, text):
    assert ranking(values, metric) == text


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [(0.1234, "coverage", "12.3%"), (12345.6, "qd_score", "12,346"), (0.1234, "", "0.123"), (float("nan"), "", "none")],
)
def test_numbers_for_people(value, metric, text):
    assert number(value, metric) == text
