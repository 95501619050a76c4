"""The corrected QD score over wall time: what a run's re-evaluated archives are worth, and when they were reached.

A run is re-evaluated at its end, or at several times: `dcrl evaluate` of a copy of an earlier archive in the run's
directory leaves `<name>-reproducibility/` beside `reproducibility/`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcrl.analysis.records import Record
from dcrl.analysis.times import Reach
from dcrl.evaluation.files import TOTALS
from dcrl.files import read_json

FOLDERS = "*reproducibility"  # of a run: one per re-evaluated archive


@dataclass(frozen=True, kw_only=True)
class Point:
    """One re-evaluated archive of a run."""

    task: str
    series: str
    seed: int
    evaluations: int
    seconds: float  # of wall time, when the archive was reached
    repeats: int
    qd_score: float  # as stored
    expected_qd_score: float
    corrected_qd_score: float


def points(records: Sequence[Record]) -> list[Point]:
    """All re-evaluated archives, each run's in order of time; what cannot be read is named where it is compared."""
    found = []
    for record in records:
        own = [point for path in sorted(record.path.glob(f"{FOLDERS}/{TOTALS}")) if (point := _point(record, path))]
        found += sorted(own, key=lambda point: point.evaluations)
    return found


def _point(record: Record, path: Path) -> Point | None:
    """None for totals that cannot be read, or of an archive that the run's metrics do not know."""
    try:
        totals = read_json(path)
        evaluations, elites = int(totals["evaluations"]), totals["elites"]
        generation = np.flatnonzero(record.metrics["evaluations"] == evaluations)
        numbers = [float(elites[name]) for name in ("expected_qd_score", "corrected_qd_score")]
        if not len(generation) or not all(map(math.isfinite, numbers)):
            return None
        return Point(
            task=record.task,
            series=record.series,
            seed=record.seed,
            evaluations=evaluations,
            seconds=float(record.metrics["wall_seconds"][generation[0]]),
            repeats=int(totals["repeats"]),
            qd_score=float(record.metrics["qd_score"][generation[0]]),
            expected_qd_score=numbers[0],
            corrected_qd_score=numbers[1],
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def corrected_reach(own: Sequence[Point], threshold: float) -> Reach:
    """When the first of one run's re-evaluated archives has a corrected QD score at or above a threshold."""
    above = [point for point in own if point.corrected_qd_score >= threshold]
    return Reach(
        task=own[0].task,
        series=own[0].series,
        seed=own[0].seed,
        threshold=threshold,
        seconds=(above[0] if above else own[-1]).seconds,
        reached=bool(above),
    )


def corrected_after(own: Sequence[Point], seconds: float) -> float:
    """The corrected QD score of one run's last re-evaluated archive up to so many seconds; NaN without one."""
    by_then = [point for point in own if point.seconds <= seconds]
    return by_then[-1].corrected_qd_score if by_then else math.nan
