"""The tables of `docs/algorithms/fast.md`, from `results/fast`: what was tried, and time to quality."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

FAST = Path(__file__).parents[1] / "results" / "fast"
EVALUATIONS = (2_560, 5_120)  # at which scores are compared
NAMES = {"paper": "`dcrl_me`, the paper's settings", "fast": "`--preset fast`", "me": "`--algorithm me`"}
LEVER_COLUMNS = ("flags", "QD score at 2,560", "at 5,120", "coverage", "million steps", "processor seconds")
TIME_COLUMNS = (
    "configuration",
    "seconds to the threshold",
    "of the paper's time",
    "evaluations",
    "stored QD score",
    "expected",
    "corrected",
    "processor used",
)


def levers(group: str) -> list[tuple[str, ...]]:
    """One row per configuration that was tried, in the order of the file."""
    with (FAST / "levers.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["group"] == group]
    if not rows:
        raise ValueError(f"{FAST / 'levers.csv'} has no group {group!r}")
    return [_lever(flags, list(own)) for flags, own in groupby(rows, key=lambda row: row["flags"])]


def _lever(flags: str, rows: list[dict[str, str]]) -> tuple[str, ...]:
    first, last = (min(rows, key=lambda row: abs(int(row["evaluations"]) - count)) for count in EVALUATIONS)
    return (
        f"`{flags}`" if flags else "none",
        f"{float(first['qd_score']):,.0f}",
        f"{float(last['qd_score']):,.0f}",
        f"{float(last['coverage']):.1%}",
        f"{int(last['environment_steps']) / 1e6:.2f}",
        f"{float(last['processor_seconds']):.0f}",
    )


def time_to_quality(task: str, seed: int) -> Iterator[tuple[str, ...]]:
    """One row per configuration: how long it took to reach the paper's final QD score, and what was found there."""
    runs = {name: json.loads((FAST / task / f"{name}-{seed}.json").read_text()) for name in NAMES}
    paper = _reached(runs["paper"])["wall_seconds"]
    for name, run in runs.items():
        row, archive = _reached(run), run["archives"][-1]
        yield (
            NAMES[name],
            f"{row['wall_seconds']:.0f}",
            f"{row['wall_seconds'] / paper:.2f}",
            f"{row['evaluations']:,}",
            *(f"{archive[score]:,.0f}" for score in ("qd_score", "expected_qd_score", "corrected_qd_score")),
            f"{row['processor_seconds'] / row['wall_seconds'] / run['machine']['cores']:.0%}",
        )


def _reached(run: dict[str, Any]) -> dict[str, Any]:
    """The generation that reached the threshold; of the paper's settings, which define it, the last."""
    threshold = run["threshold"]
    rows: list[dict[str, Any]] = run["rows"]
    return rows[-1] if threshold is None else next(row for row in rows if row["qd_score"] >= threshold)
