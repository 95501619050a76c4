"""The contribution of each operator: improvement and offspring added, cumulative over a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dcrl.algorithms.me_es import MEES
from dcrl.analysis.comparison import Curve, curve
from dcrl.analysis.records import Record
from dcrl.types import Floats
from dcrl.variation.iso_line import IsoLine

What = Literal["improvement", "added"]
WHATS: tuple[What, ...] = ("improvement", "added")
# The paper's columns: the genetic operator, all that comes from a learner, and everything
GROUPS = ("GA", "PG + AI", "total")


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What one operator of one run contributed by the common number of evaluations."""

    task: str
    series: str
    seed: int
    operator: str
    evaluations: int | None  # of its offspring; None where the run did not record it
    improvement: float
    added: int


def cumulative(record: Record, what: What, operators: Sequence[str]) -> Floats:
    """(generations,) the cumulative contribution of some operators; the initial policies belong to none."""
    total = np.zeros(len(record.metrics["evaluations"]))
    for operator in operators:
        total += np.cumsum(record.metrics[f"{what}_{operator}"])
    return total


def group(record: Record, name: str) -> tuple[str, ...]:
    """The operators of a run that belong to a column of the paper's figure."""
    genetic = tuple(operator for operator in record.operators if operator == IsoLine.name)
    others = tuple(operator for operator in record.operators if operator not in (IsoLine.name, *MEES.operator_names))
    return {"GA": genetic, "PG + AI": others, "total": record.operators}[name]


def operators_curve(
    records: Sequence[Record], what: What, operators: Sequence[Sequence[str]], end: float = np.inf
) -> Curve:
    """Median and quartiles over runs of the contribution of some operators, given for each run."""
    with_total = [
        replace(record, metrics=record.metrics | {"total": cumulative(record, what, own)})
        for record, own in zip(records, operators, strict=True)
    ]
    return curve(with_total, "total", end=end)


def group_curve(records: Sequence[Record], what: What, name: str, end: float = np.inf) -> Curve | None:
    """Median and quartiles over runs of a group's contribution; None if these runs have no such operator."""
    own = [group(record, name) for record in records]
    return operators_curve(records, what, own, end) if all(own) else None


def contributions(records: Sequence[Record], common: Mapping[str, int]) -> list[Contribution]:
    """Of every operator of every run, up to the common number of evaluations of its task."""
    found = []
    for record in records:
        rows = int(np.searchsorted(record.metrics["evaluations"], common[record.task], side="right"))
        if not rows:
            continue
        for operator in record.operators:
            evaluated = record.metrics.get(f"evaluations_{operator}")
            found.append(
                Contribution(
                    task=record.task,
                    series=record.series,
                    seed=record.seed,
                    operator=operator,
                    evaluations=None if evaluated is None else int(np.nansum(evaluated[:rows])),
                    improvement=float(cumulative(record, "improvement", [operator])[rows - 1]),
                    added=int(cumulative(record, "added", [operator])[rows - 1]),
                )
            )
    return found
