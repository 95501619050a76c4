"""The tables of timed runs and the figure of `docs/algorithms/fast.md`, from `results/fast`."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from dcrl.figures.style import COLOURS, STYLE, save
from dcrl.tasks import registry
from time_to_quality import corrected, corrected_by, number, score_at

FAST = Path(__file__).parents[1] / "results" / "fast"
NAMES = {
    "paper": "`dcrl_me`, the paper's settings",
    "fast": "`--preset fast`",
    "pga_me": "`--algorithm pga_me`",
    "me": "`--algorithm me`",
    "constant": "`--preset fast`, constant learning rates",
}
MARKS = (60, 120, 240)  # seconds at which scores are compared
MARK_COLUMNS = ("seed", "configuration", *(f"{mark} s" for mark in MARKS))
HOUR_MARKS = (10, 20, 30, 40, 60)  # minutes at which scores are compared
AFTER = 60  # seconds after the last mark within which the final archive counts as that of the mark
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
SIMILAR = 5  # generations over which similarities are averaged
SIMILARITY_COLUMNS = ("task", "configuration", "runs", "`pg`: first", "last", "`ai`: first", "last")
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
    "seconds to the paper's corrected score",
    "CPU use",
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


def similarities() -> Iterator[tuple[str, ...]]:
    """One row per task and configuration: how close policy gradients and injected actors ended to their targets."""
    for task in sorted(path.name for path in FAST.iterdir() if path.name in registry.names()):
        for name in ("paper", "fast"):
            found = [run["rows"] for (own, _), run in _timed(task).items() if own == name]
            found = [rows for rows in found if "operators" in rows[0]]  # runs of `dcrl train` do not have them
            if found:
                parts = (slice(1, 1 + SIMILAR), slice(-SIMILAR, None))
                cells = (_similarity(found, operator, part) for operator in ("pg", "ai") for part in parts)
                yield (f"`{task}`", NAMES[name], str(len(found)), *cells)


def _similarity(found: list[list[dict[str, Any]]], operator: str, generations: slice) -> str:
    values = [
        each["similarity"]
        for rows in found
        for row in rows[generations]
        for each in row["operators"]
        if each["name"] == operator
    ]
    return f"{statistics.mean(values):.2f}"


def draw(path: Path) -> None:
    """QD scores over wall time: one panel per task, one line per run."""
    tasks = sorted((each.name for each in FAST.iterdir() if each.name in registry.names()), reverse=True)
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
    last = run["rows"][-1]
    archives = [one for one in run["archives"] if one["wall_seconds"] <= 60 * HOUR_MARKS[-1] + AFTER]
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
        self.stored = row["qd_score"]
        self.run = run
        archive = next((one for one in run["archives"] if one["when"] in ("at the threshold", "at the end")), {})
        self.expected, self.corrected = (
            archive.get(score, math.nan) for score in ("expected_qd_score", "corrected_qd_score")
        )
        self.used = _cpu_use(run, row)

    def cells(self, paper: _Reached) -> tuple[str, ...]:
        never = math.isinf(self.seconds)
        return (
            f"not within {self.limit:.0f}" if never else f"{self.seconds:.0f}",
            "" if never else f"{self.seconds / paper.seconds:.2f}",
            "" if never else f"{self.cpu_seconds / paper.cpu_seconds:.2f}",
            f"{self.evaluations:,}",
            *(number(score) for score in (self.stored, self.expected, self.corrected)),
            self.corrected_by(paper),
            f"{self.used:.0%}",
        )

    def corrected_by(self, paper: _Reached) -> str:
        """The first re-evaluated archive that is as good as the paper's last: an upper limit."""
        if math.isnan(paper.corrected) or not self.run["archives"]:
            return ""
        seconds = corrected_by(self.run, paper.corrected)
        return "not seen" if math.isinf(seconds) else f"{seconds:.0f}"


def _medians(runs: list[tuple[_Reached, _Reached]]) -> tuple[str, ...]:
    """Of runs, each with that of the paper's settings."""

    def middle(name: str) -> float:
        found = [getattr(run, name) for run, _ in runs]
        return math.nan if any(map(math.isnan, found)) else statistics.median(found)

    seconds = middle("seconds")
    never = math.isinf(seconds)
    return (
        "never" if never else f"{seconds:.0f}",
        "" if never else f"{statistics.median(run.seconds / paper.seconds for run, paper in runs):.2f}",
        "" if never else f"{statistics.median(run.cpu_seconds / paper.cpu_seconds for run, paper in runs):.2f}",
        *(number(middle(name)) for name in ("evaluations", "stored", "expected", "corrected")),
        "",
        f"{middle('used'):.0%}",
    )
