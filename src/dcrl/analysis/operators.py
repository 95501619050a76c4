"""What each operator contributed: fitness gained and offspring added, in total over a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dcrl.analysis.comparison import Curve, curve
from dcrl.analysis.records import Record
from dcrl.types import Floats

What = Literal["improvement", "added"]
WHATS: tuple[What, ...] = ("improvement", "added")
# The paper's columns: the genetic operator, all that comes from a learner, and everything
GROUPS = ("GA", "PG + AI", "total")


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What one operator of one run did by the end."""

    task: str
    series: str
    seed: int
    operator: str
    evaluations: int | None  # made for its offspring; None where the run did not record it
    improvement: float
    added: int


def cumulative(record: Record, what: What, operators: Sequence[str]) -> Floats:
    """(generations,) the sum of some operators' contributions so far; the initial policies are nobody's."""
    total = np.zeros(len(record.metrics["evaluations"]))
    for operator in operators:
        total += np.cumsum(record.metrics[f"{what}_{operator}"])
    return total


def group(record: Record, name: str) -> tuple[str, ...]:
    """The operators of a run that a column of the paper's figure sums."""
    genetic = tuple(operator for operator in record.operators if operator == "ga")
    others = tuple(operator for operator in record.operators if operator not in ("ga", "es"))
    return {"GA": genetic, "PG + AI": others, "total": record.operators}[name]


def operators_curve(
    records: Sequence[Record], what: What, operators: Sequence[Sequence[str]], end: float = np.inf
) -> Curve:
    """Median and quartiles over runs of the contribution of some operators, which are given for each run."""
    with_total = [
        replace(record, metrics=record.metrics | {"total": cumulative(record, what, own)})
        for record, own in zip(records, operators, strict=True)
    ]
    return curve(with_total, "total", end=end)


def group_curve(records: Sequence[Record], what: What, name: str, end: float = np.inf) -> Curve | None:
    """Median and quartiles over runs of a group's contribution; None if these runs have no such operator."""
    own = [group(record, name) for record in records]
    return operators_curve(records, what, own, end) if all(own) else None


def contributions(records: Sequence[Record]) -> list[Contribution]:
    found = []
    for record in records:
        for operator in record.operators:
            evaluated = record.metrics.get(f"evaluations_{operator}")
            found.append(
                Contribution(
                    task=record.task,
                    series=record.series,
                    seed=record.seed,
                    operator=operator,
                    evaluations=None if evaluated is None else int(np.nansum(evaluated)),
                    improvement=float(cumulative(record, "improvement", [operator])[-1]),
                    added=int(cumulative(record, "added", [operator])[-1]),
                )
            )
    return found
