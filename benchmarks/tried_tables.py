"""The tables of what was tried in `docs/algorithms/fast.md`, from `results/fast`: one row per configuration."""

from __future__ import annotations

import csv
import json
import statistics
from itertools import groupby
from pathlib import Path
from typing import Any

from fast_tables import FAST
from levers_alone import LEVERS

EVALUATIONS = (2_560, 5_120)  # at which scores are compared
PAPER_RUNS = Path("walker2d_uni", "dcrl_me")  # below results/; the runs of what was tried are compared with these
LEVER_COLUMNS = ("flags", "QD score at 2,560", "at 5,120", "coverage", "million steps", "CPU time (s)")
FINAL_COLUMNS = ("flags", "evaluations", "QD score", "coverage", "CPU time (s)")
AGAINST_COLUMNS = ("flags", "evaluations", "QD score", "coverage", "without: QD score", "coverage")
OUTPUT_COLUMNS = ("factor", "fitness", "distance from the start (m)", "gain")
OFFLINE_COLUMNS = ("flags", "gain: online, target", "distance (m): online, target", "fitness: online, target")
SCORE_COLUMNS = ("flags", "seed", "evaluations", "million steps", "CPU time (s)")
OPERATOR_COLUMNS = (
    "flags",
    "evaluations",
    "QD score",
    "coverage",
    "added: ga, pg, ai",
    "similarity: pg, ai",
    "CPU time (s)",
)
EARLY = (5_120, 10_240)  # evaluations
POSITION_COLUMNS = (
    "flags",
    "QD score at 5,120",
    "at 10,240",
    "at the end",
    "coverage",
    "evaluations",
    "seconds per generation",
    "ai added, last 10 generations",
    "similarity: ai",
)
TARGETS = ("20", "32")  # their distance from the start in metres
PENALTY_COLUMNS = (
    "`--output-penalty`",
    "updates",
    *(f"target at {metres} m{factor}" for metres in TARGETS for factor in ("", ", outputs x 0.6")),
)
ALONE_COLUMNS = (
    "flags",
    "runs",
    "QD score at 2,560",
    "at the end",
    "coverage",
    "added: ga, pg, ai",
    "CPU time (s)",
    "QD score in half the paper's CPU time",
)
# the run of the preset that a group is compared with, where it is not that with constant learning rates
WITHOUT = {"halfcheetah_actors": FAST / "halfcheetah_uni_before" / "fast-2.json"}
SCORES = {"qd_score": ",.0f", "coverage": ".1%"}
LATEST = 10  # generations over which similarities are averaged


def levers(group: str) -> list[tuple[str, ...]]:
    """One row per configuration that was tried, in the order of the file."""
    return [_lever(flags, rows) for (flags,), rows in _grouped(group, "flags")]


def _lever(flags: str, rows: list[dict[str, str]]) -> tuple[str, ...]:
    first, last = (min(rows, key=lambda row: abs(int(row["evaluations"]) - count)) for count in EVALUATIONS)
    return (
        _named(flags),
        f"{float(first['qd_score']):,.0f}",
        f"{float(last['qd_score']):,.0f}",
        f"{float(last['coverage']):.1%}",
        f"{int(last['environment_steps']) / 1e6:.2f}",
        f"{float(last['processor_seconds']):.0f}",
    )


def finals(group: str) -> list[tuple[str, ...]]:
    """One row per configuration: what it reached in the end."""
    rows = [(flags, own[-1]) for (flags,), own in _grouped(group, "flags")]
    return [
        (
            _named(flags),
            f"{int(last['evaluations']):,}",
            f"{float(last['qd_score']):,.0f}",
            f"{float(last['coverage']):.1%}",
            f"{float(last['processor_seconds']):.0f}",
        )
        for flags, last in rows
    ]


def against(group: str) -> list[tuple[str, ...]]:
    """One row per configuration: what it reached in the end, and an earlier preset after as many evaluations."""
    path = WITHOUT.get(group, FAST / "ant_omni_before" / "constant-0.json")
    without = {row["evaluations"]: row for row in json.loads(path.read_text())["rows"]}
    rows = [(flags, own[-1], without[int(own[-1]["evaluations"])]) for (flags,), own in _grouped(group, "flags")]
    return [
        (
            _named(flags),
            f"{int(last['evaluations']):,}",
            *(f"{float(row[name]):{form}}" for row in (last, other) for name, form in SCORES.items()),
        )
        for flags, last, other in rows
    ]


def offline() -> list[tuple[str, ...]]:
    """One row per configuration: means over all rounds after which the actor was simulated."""
    with (FAST / "offline.csv").open(newline="") as file:
        runs = [(flags, list(rows)) for flags, rows in groupby(csv.DictReader(file), key=lambda row: row["flags"])]

    def means(rows: list[dict[str, str]], name: str, form: str) -> str:
        by_network = ([float(row[name]) for row in rows if row["injected"] == own] for own in ("online", "target"))
        return ", ".join(f"{statistics.mean(values):{form}}" for values in by_network if values)

    return [
        (_named(flags), means(rows, "gain", ",.0f"), means(rows, "distance", ".1f"), means(rows, "fitness", ".0f"))
        for flags, rows in runs
    ]


def outputs() -> list[tuple[str, ...]]:
    """One row per factor of the output layer: what the injected actors achieved."""
    with (FAST / "outputs.csv").open(newline="") as file:
        return [
            (row["factor"], f"{float(row['fitness']):.0f}", f"{float(row['reached']):.1f}", f"{int(row['gain']):,}")
            for row in csv.DictReader(file)
        ]


def to_the_papers_score(group: str) -> list[tuple[str, ...]]:
    """One row per configuration and seed: what it took to reach the final QD score of the paper's settings."""
    return [_costs(flags, int(seed), rows) for (flags, seed), rows in _grouped(group, "flags", "seed")]


def _costs(flags: str, seed: int, rows: list[dict[str, str]]) -> tuple[str, ...]:
    with (FAST.parent / PAPER_RUNS / f"seed-{seed}" / "metrics.csv").open(newline="") as file:
        threshold = float(list(csv.DictReader(file))[-1]["qd_score"])
    reached = next(row for row in rows if float(row["qd_score"]) >= threshold)
    return (
        _named(flags),
        str(seed),
        f"{int(reached['evaluations']):,}",
        f"{int(reached['environment_steps']) / 1e6:.2f}",
        f"{float(reached['processor_seconds']):.0f}",
    )


def operators(name: str) -> list[tuple[str, ...]]:
    """One row per configuration: what each operator added in the whole run, and the mean similarity at its end."""
    with (FAST / f"{name}.csv").open(newline="") as file:
        runs = groupby(csv.DictReader(file), key=lambda row: row["flags"])
        return [_by_operator(flags, list(rows)) for flags, rows in runs]


def _by_operator(flags: str, rows: list[dict[str, str]]) -> tuple[str, ...]:
    last = rows[-1]
    added = (sum(int(row[f"added_{name}"]) for row in rows) for name in ("ga", "pg", "ai"))
    latest = [row for row in rows if row["similarity_ai"]][-LATEST:]  # the first generation has no targets
    similar = (statistics.mean(float(row[f"similarity_{name}"]) for row in latest) for name in ("pg", "ai"))
    return (
        _named(flags),
        f"{int(last['evaluations']):,}",
        f"{float(last['qd_score']):,.0f}",
        f"{float(last['coverage']):.1%}",
        ", ".join(map(str, added)),
        ", ".join(f"{value:.2f}" for value in similar),
        f"{float(seconds):.0f}" if (seconds := last["processor_seconds"]) else "",  # `dcrl train` does not record it
    )


def alone(task: str) -> list[tuple[str, ...]]:
    """One row per setting that was changed alone: medians over the seeds."""
    runs: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for name, flags in LEVERS.items():
        found = (json.loads(path.read_text()) for path in (FAST / "alone" / task).glob(f"{name}-*.json"))
        runs[flags] = {run["configuration"]["seed"]: run["rows"] for run in found}
    paper = runs[LEVERS["paper"]]
    common = {flags: {seed: rows for seed, rows in own.items() if seed in paper} for flags, own in runs.items()}
    return [_alone(flags, own, paper) for flags, own in common.items() if own]


def _alone(
    flags: str, runs: dict[int, list[dict[str, Any]]], paper: dict[int, list[dict[str, Any]]]
) -> tuple[str, ...]:
    def added(rows: list[dict[str, Any]], operator: str) -> int:
        return sum(each["added"] for row in rows for each in row["operators"] if each["name"] == operator)

    def until(rows: list[dict[str, Any]], name: str, end: float) -> float:
        return max(float(row["qd_score"]) for row in rows if row[name] <= end)

    middle = statistics.median
    half = {seed: rows[-1]["processor_seconds"] / 2 for seed, rows in paper.items()}
    return (
        _named(flags),
        str(len(runs)),
        f"{middle(until(rows, 'evaluations', EVALUATIONS[0]) for rows in runs.values()):,.0f}",
        f"{middle(rows[-1]['qd_score'] for rows in runs.values()):,.0f}",
        f"{middle(rows[-1]['coverage'] for rows in runs.values()):.1%}",
        ", ".join(f"{middle(added(rows, name) for rows in runs.values()):,.0f}" for name in ("ga", "pg", "ai")),
        f"{middle(rows[-1]['processor_seconds'] for rows in runs.values()):.0f}",
        f"{middle(until(rows, 'processor_seconds', half[seed]) for seed, rows in runs.items()):,.0f}",
    )


def positions() -> list[tuple[str, ...]]:
    """One row per configuration: QD scores on the way and at the end, and what injected actors did last."""
    with (FAST / "position.csv").open(newline="") as file:
        runs = groupby(csv.DictReader(file), key=lambda row: row["flags"])
        return [_position(flags, list(rows)) for flags, rows in runs]


def _position(flags: str, rows: list[dict[str, str]]) -> tuple[str, ...]:
    first, last, latest = rows[0], rows[-1], rows[-LATEST:]
    at = {int(row["evaluations"]): f"{float(row['qd_score']):,.0f}" for row in rows}
    generations = int(last["generation"]) - int(first["generation"])
    seconds = float(last["wall_seconds"]) - float(first["wall_seconds"])
    return (
        _named(flags),
        *(at.get(count, "") for count in EARLY),  # a run that was continued has none
        f"{float(last['qd_score']):,.0f}",
        f"{float(last['coverage']):.1%}",
        f"{int(last['evaluations']):,}",
        f"{seconds / generations:.1f}",
        *_injected(latest),
    )


def _injected(rows: list[dict[str, str]]) -> tuple[str, str]:
    """How many injected actors were added, and their mean similarity; nothing where only scores were kept."""
    rows = [row for row in rows if row["similarity_ai"]]  # the first generation has no targets
    if not rows:
        return "", ""
    similarity = statistics.mean(float(row["similarity_ai"]) for row in rows)
    return str(sum(int(row["added_ai"]) for row in rows)), f"{similarity:.2f}"


def penalties() -> list[tuple[str, ...]]:
    """One row per output penalty: how far the trained actor gets towards targets, and its fitness."""
    with (FAST / "penalties.csv").open(newline="") as file:
        found = groupby(csv.DictReader(file), key=lambda row: (row["penalty"], row["updates"]))
        return [
            (
                penalty or "before training",
                f"{int(updates):,}",
                *(f"{row['distance']} m, {row['fitness']}" for row in rows if row["target_distance"] in TARGETS),
            )
            for (penalty, updates), rows in found
        ]


def _named(flags: str) -> str:
    return f"`{flags}`" if flags else "none"


def _grouped(group: str, *names: str) -> list[tuple[tuple[str, ...], list[dict[str, str]]]]:
    """The rows of a group by these columns, in the order of the file."""
    with (FAST / "levers.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["group"] == group]
    if not rows:
        raise ValueError(f"{FAST / 'levers.csv'} has no group {group!r}")
    return [(key, list(own)) for key, own in groupby(rows, key=lambda row: tuple(row[name] for name in names))]
