"""What re-evaluation says of runs that `dcrl evaluate` has been through, for comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dcrl.analysis.comparison import Value
from dcrl.analysis.records import Record
from dcrl.evaluation.files import TOTALS
from dcrl.files import read_json

FOLDER = "reproducibility"
FIELDS = {
    "expected_qd_score": "expected_qd_score",
    "expected_distance": "expected_distance_to_centroid",
    "expected_max_fitness": "expected_max_fitness",
}


def expected(records: Sequence[Record]) -> tuple[list[Value], list[str]]:
    """The expected metrics of elites, and of actors as series of their own, and what to know about them."""
    found: list[Value] = []
    remarks: list[str] = []
    repeats: set[int] = set()
    without = 0
    for record in records:
        directory = record.path / FOLDER
        if not (directory / TOTALS).is_file():
            without += 1
            continue
        try:
            own, count = _values(record, read_json(directory / TOTALS))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"it lacks {error!s}" if isinstance(error, KeyError) else str(error)
            remarks.append(f"{directory / TOTALS} cannot be used: {why}.")
            continue
        found += own
        repeats.add(count)
        if own and own[0].evaluations != record.evaluations:
            remarks.append(
                f"{record.path} was evaluated again after {own[0].evaluations:,} evaluations and has gone on to "
                f"{record.evaluations:,} since."
            )
    if found and without:
        remarks.append(f"{without} of {len(records)} runs have not been evaluated again; `dcrl evaluate RUN` does it.")
    if len(repeats) > 1:
        remarks.append(f"Runs were evaluated again with different numbers of repeats: {sorted(repeats)}.")
    return found, remarks


def _values(record: Record, totals: Any) -> tuple[list[Value], int]:
    found = []
    for who, series in (("elites", record.series), ("actor", f"{record.series} actor")):
        if totals[who] is None:
            continue
        for metric, field in FIELDS.items():
            number = totals[who][field]
            found.append(
                Value(
                    task=record.task,
                    series=series,
                    seed=record.seed,
                    metric=metric,
                    evaluations=int(totals["evaluations"] or record.evaluations),
                    value=math.nan if number is None else float(number),
                )
            )
    return found, int(totals["repeats"])
