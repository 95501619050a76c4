"""QDax's learner against ours on the same simulator: a table and a figure of `docs/benchmarks.md`.

`results/qdax/TASK/seed-N.csv` is what `qdax_learner.py` wrote; ours is `results/TASK/dcrl_me/seed-N`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt

from dcrl.figures.style import COLOURS, STYLE, save

RESULTS = Path(__file__).parents[1] / "results"
COLUMNS = ("seed", "evaluations", "QD score, ours", "QDax", "coverage, ours", "QDax", "max fitness, ours", "QDax")

Rows = list[dict[str, str]]


def table(task: str) -> Iterator[tuple[str, ...]]:
    """One row per seed: both after the same number of evaluations."""
    for seed, ours, theirs in pairs(task):
        count = min(int(ours[-1]["evaluations"]), int(theirs[-1]["evaluations"]))
        both = [next(row for row in rows[::-1] if int(row["evaluations"]) <= count) for rows in (ours, theirs)]
        yield (
            str(seed),
            f"{count:,}",
            *(f"{float(row['qd_score']):,.0f}" for row in both),
            *(f"{float(row['coverage']):.1%}" for row in both),
            *(f"{float(row['max_fitness']):,.0f}" for row in both),
        )


def draw(task: str, path: Path) -> None:
    """The QD score over evaluations, one line per run."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(4.5, 3), layout="constrained")
        for number, (_, *both) in enumerate(pairs(task)):
            for rows, name, colour, dashes in zip(both, ("ours", "QDax"), COLOURS, ("-", "--"), strict=False):
                evaluations = [int(row["evaluations"]) for row in rows]
                scores = [float(row["qd_score"]) for row in rows]
                axes.plot(evaluations, scores, color=colour, linestyle=dashes, label=None if number else name)
        axes.set(xlabel="evaluations", ylabel="QD score", title=task)
        axes.legend(frameon=False)
        save(figure, path)


def pairs(task: str) -> Iterator[tuple[int, Rows, Rows]]:
    """The seeds that both have, with the metrics of ours and of QDax's."""
    for path in sorted((RESULTS / "qdax" / task).glob("seed-*.csv")):
        ours = RESULTS / task / "dcrl_me" / path.stem / "metrics.csv"
        yield int(path.stem.partition("-")[2]), _rows(ours), _rows(path)


def _rows(path: Path) -> Rows:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
