"""The tables and the figure of `docs/algorithms/fast.md`, from `results/fast`: time to quality, and what was tried."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from dcrl.figures.style import COLOURS, STYLE, save
from time_to_quality import corrected, score_at

FAST = Path(__file__).parents[1] / "results" / "fast"
EVALUATIONS = (2_560, 5_120)  # at which scores are compared
PAPER_RUNS = Path("walker2d_uni", "dcrl_me")  # below results/; the runs of what was tried are compared with these
NAMES = {
    "paper": "`dcrl_me`, the paper's settings",
    "fast": "`--preset fast`",
    "pga_me": "`--algorithm pga_me`",
    "me": "`--algorithm me`",
    "constant": "`--preset fast`, constant learning rates",
}
LEVER_COLUMNS = ("flags", "QD score at 2,560", "at 5,120", "coverage", "million steps", "CPU time (s)")
FINAL_COLUMNS = ("flags", "evaluations", "QD score", "coverage", "CPU time (s)")
AGAINST_COLUMNS = ("flags", "evaluations", "QD score", "coverage", "without: QD score", "coverage")
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
SCORES = {"qd_score": ",.0f", "coverage": ".1%"}
MARKS = (60, 120, 240)  # seconds at which scores are compared
MARK_COLUMNS = ("seed", "configuration", *(f"{mark} s" for mark in MARKS))
HOUR_MARKS = (10, 20, 40, 60)  # minutes at which scores are compared
HOUR_COLUMNS = (
    "seed",
    "configuration",
    *(f"{mark} min" for mark in HOUR_MARKS),
    "coverage",
    "evaluations",
    "expected",
    "corrected",
    "CPU use",
)
LATEST = 10  # generations over which similarities are averaged
TIME_COLUMNS = (
    "seed",
    "configuration",
    "seconds to the threshold",
    "of the paper's time",
    "of the paper's CPU time",
    "evaluations",
    "stored QD score",
    "expected",
    "corrected",
    "CPU use",
)


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


def against_constant(group: str) -> list[tuple[str, ...]]:
    """One row per configuration: what it reached in the end, and the preset with constant rates as many evaluations."""
    path = FAST / "ant_omni" / "constant-0.json"
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


def operators(task: str) -> list[tuple[str, ...]]:
    """One row per configuration: what each operator added in the whole run, and the mean similarity at its end."""
    with (FAST / f"{task}.csv").open(newline="") as file:
        runs = groupby(csv.DictReader(file), key=lambda row: row["flags"])
        return [_by_operator(flags, list(rows)) for flags, rows in runs]


def _by_operator(flags: str, rows: list[dict[str, str]]) -> tuple[str, ...]:
    last = rows[-1]
    added = (sum(int(row[f"added_{name}"]) for row in rows) for name in ("ga", "pg", "ai"))
    similar = (statistics.mean(float(row[f"similarity_{name}"]) for row in rows[-LATEST:]) for name in ("pg", "ai"))
    return (
        _named(flags),
        f"{int(last['evaluations']):,}",
        f"{float(last['qd_score']):,.0f}",
        f"{float(last['coverage']):.1%}",
        ", ".join(map(str, added)),
        ", ".join(f"{value:.2f}" for value in similar),
        f"{float(last['processor_seconds']):.0f}",
    )


def time_to_quality(task: str) -> Iterator[tuple[str, ...]]:
    """One row per seed and configuration: how long it took to reach the paper's final QD score, and what was found
    there; then the medians.
    """
    found = {key: _Reached(run) for key, run in _timed(task).items()}
    for (name, seed), run in found.items():
        yield (str(seed), NAMES[name], *run.cells(found["paper", seed]))
    seeds = {seed for _, seed in found}
    for name in NAMES:
        runs = [(run, found["paper", seed]) for (own, seed), run in found.items() if own == name]
        if len(runs) == len(seeds) > 1:
            yield ("median", NAMES[name], *_medians(runs))


def at_marks(task: str) -> Iterator[tuple[str, ...]]:
    """One row per seed and configuration: the stored QD score at each mark, and the corrected one where it is known."""
    for (name, seed), run in _timed(task).items():
        yield (str(seed), NAMES[name], *(_at_mark(run, mark) for mark in MARKS))


def hour(task: str) -> Iterator[tuple[str, ...]]:
    """One row per configuration and seed: stored QD scores within an hour, and what was found at its end."""
    for (name, seed), run in _timed(task).items():
        rows = [row for row in run["rows"] if row["wall_seconds"] <= 60 * HOUR_MARKS[-1]]
        yield (
            str(seed),
            NAMES[name],
            *(_at_mark(run, 60 * mark) for mark in HOUR_MARKS),
            f"{rows[-1]['coverage']:.1%}",
            f"{rows[-1]['evaluations']:,}",
            *_at_the_end(run),
        )


def draw(path: Path) -> None:
    """QD scores over wall time: one panel per task, one line per run."""
    tasks = sorted((each.name for each in FAST.iterdir() if each.is_dir()), reverse=True)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(tasks), figsize=(3.4 * len(tasks), 3), layout="constrained")
        for task, axes in zip(tasks, panels, strict=True):
            for (name, _), run in _timed(task).items():
                minutes = [row["wall_seconds"] / 60 for row in run["rows"]]
                scores = [row["qd_score"] for row in run["rows"]]
                axes.plot(minutes, scores, color=COLOURS[[*NAMES].index(name)], label=NAMES[name].replace("`", ""))
            axes.set(xlabel="minutes", ylabel="QD score", title=task)
        lines = {line.get_label(): line for axes in panels for line in axes.get_lines()}  # one per configuration
        figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines), frameon=False)
        save(figure, path)


def _at_the_end(run: dict[str, Any]) -> Iterator[str]:
    """The re-evaluated scores of the final archive and the CPU use of the run, where known."""
    last, archives = run["rows"][-1], run["archives"]
    for score in ("expected_qd_score", "corrected_qd_score"):
        yield f"{archives[-1][score]:,.0f}" if archives else ""
    yield f"{_cpu_use(run, last):.0%}" if "processor_seconds" in last else ""


def _cpu_use(run: dict[str, Any], row: dict[str, Any]) -> float:
    return float(row["processor_seconds"] / row["wall_seconds"] / run["machine"]["cores"])


def _at_mark(run: dict[str, Any], mark: float) -> str:
    stored, re_evaluated = score_at(run, mark), corrected(run, f"at {mark:g} s")
    if math.isnan(stored):
        return "ended"
    return f"{stored:,.0f}" if math.isnan(re_evaluated) else f"{stored:,.0f} ({re_evaluated:,.0f})"


def _timed(task: str) -> dict[tuple[str, int], dict[str, Any]]:
    """The timed runs of a task by configuration and seed, those of one seed after another."""
    found = {tuple(path.stem.split("-")): path for path in (FAST / task).glob("*-*.json")}
    seeds = sorted({int(seed) for _, seed in found})
    paths = {(name, seed): found.get((name, str(seed))) for seed in seeds for name in NAMES}
    return {key: json.loads(path.read_text()) for key, path in paths.items() if path}


class _Reached:
    """A run at the generation that reached the threshold; at its last one if it did not, or if it defines it."""

    def __init__(self, run: dict[str, Any]) -> None:
        threshold, rows = run["threshold"], run["rows"]
        above = [] if threshold is None else [row for row in rows if row["qd_score"] >= threshold]
        row = above[0] if above else rows[-1]
        self.seconds, self.cpu_seconds = row["wall_seconds"], row["processor_seconds"]
        if not above and threshold is not None:
            self.seconds = self.cpu_seconds = math.inf
        self.limit, self.evaluations = row["wall_seconds"], row["evaluations"]
        self.stored, self.expected, self.corrected = (
            run["archives"][-1][score] for score in ("qd_score", "expected_qd_score", "corrected_qd_score")
        )
        self.used = _cpu_use(run, row)

    def cells(self, paper: _Reached) -> tuple[str, ...]:
        never = math.isinf(self.seconds)
        return (
            f"not within {self.limit:.0f}" if never else f"{self.seconds:.0f}",
            "" if never else f"{self.seconds / paper.seconds:.2f}",
            "" if never else f"{self.cpu_seconds / paper.cpu_seconds:.2f}",
            f"{self.evaluations:,}",
            *(f"{score:,.0f}" for score in (self.stored, self.expected, self.corrected)),
            f"{self.used:.0%}",
        )


def _medians(runs: list[tuple[_Reached, _Reached]]) -> tuple[str, ...]:
    """Of runs, each with that of the paper's settings."""

    def middle(name: str) -> float:
        return statistics.median(getattr(run, name) for run, _ in runs)

    seconds = middle("seconds")
    never = math.isinf(seconds)
    return (
        "never" if never else f"{seconds:.0f}",
        "" if never else f"{statistics.median(run.seconds / paper.seconds for run, paper in runs):.2f}",
        "" if never else f"{statistics.median(run.cpu_seconds / paper.cpu_seconds for run, paper in runs):.2f}",
        *(f"{middle(name):,.0f}" for name in ("evaluations", "stored", "expected", "corrected")),
        f"{middle('used'):.0%}",
    )


def _named(flags: str) -> str:
    return f"`{flags}`" if flags else "none"


def _grouped(group: str, *names: str) -> list[tuple[tuple[str, ...], list[dict[str, str]]]]:
    """The rows of a group by these columns, in the order of the file."""
    with (FAST / "levers.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["group"] == group]
    if not rows:
        raise ValueError(f"{FAST / 'levers.csv'} has no group {group!r}")
    return [(key, list(own)) for key, own in groupby(rows, key=lambda row: tuple(row[name] for name in names))]
