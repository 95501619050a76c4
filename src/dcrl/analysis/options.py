"""The options of a report."""

from __future__ import annotations

from dataclasses import dataclass

AT_SECONDS = (60.0, 120.0, 240.0)


@dataclass(frozen=True, kw_only=True)
class Options:
    """How runs are compared.

    `evaluations` is the number after which runs of a task are compared, by default their smallest budget;
    `references` are the series that the others are tested against, one family each, by default the first in the
    paper's order; `threshold` is the QD score to reach in time, by default the final median of the first reference;
    `corrected_threshold` likewise for the corrected QD score of re-evaluated archives; QD scores are listed
    `at_seconds` of wall time.
    """

    evaluations: int | None = None
    references: tuple[str, ...] = ()
    threshold: float | None = None
    corrected_threshold: float | None = None
    at_seconds: tuple[float, ...] = AT_SECONDS
