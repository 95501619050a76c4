"""The tables of the documentation on the study: its runs, final values, operators and the paper's claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from dcrl.analysis.claims import NUMBERED, Finding, findings, improvements
from dcrl.analysis.claims_section import text
from dcrl.analysis.collection import Collection, collect
from dcrl.analysis.comparison import Value, at, budgets, samples_of, split, values
from dcrl.analysis.metrics import STORED, number, title
from dcrl.analysis.operators import contributions
from dcrl.analysis.re_evaluation import re_evaluated
from dcrl.analysis.statistics import SIGNIFICANT
from dcrl.figures.style import label

RESULTS = Path(__file__).parents[1] / "results"
LATEST = 10  # generations over which similarities are averaged
PARTS = 10  # of a run, for a table of how it went


@cache
def study() -> tuple[Collection, dict[str, int], list[Value]]:
    found = collect([RESULTS])
    common = budgets(found)
    finished, _ = split(found, common)
    return finished, common, values(finished, common)


@cache
def tested() -> tuple[Finding, ...]:
    found, common, own = study()
    return findings((*own, *re_evaluated(found.records)[0], *improvements(found.records, common)))


def runs(found: Collection) -> str:
    """What there is: one row per task and algorithm."""
    rows = []
    for task in found.tasks:
        for series in found.series:
            own = found.of(task, series)
            if own:
                seeds = " ".join(str(record.seed) for record in own)
                commits = " ".join(sorted({str(record.manifest["commit"])[:7] for record in own}))
                invalid = sum(int(record.metrics["invalid"][-1]) for record in own)
                made = " ".join(sorted({f"{record.evaluations:,}" for record in own}))
                rows.append((f"`{task}`", f"`{series}`", seeds, made, f"{invalid:,}", commits))
    return markdown(("task", "algorithm", "seeds", "evaluations", "invalid evaluations", "commit"), rows)


def final(task: str) -> str:
    """Final values on a task: median, and lowest and highest run, best QD score first."""
    samples = samples_of(study()[2])
    own = {series: [samples.get((task, metric, series), []) for metric in STORED] for series in study()[0].series}
    rows = [
        (
            label(series),
            str(len(columns[0])),
            *(_range(column, metric) for column, metric in zip(columns, STORED, strict=True)),
        )
        for series, columns in sorted(own.items(), key=lambda item: -sorted(item[1][0] or [-1])[len(item[1][0]) // 2])
        if columns[0]
    ]
    return markdown(("algorithm", "runs", *map(title, STORED)), rows)


def scores(task: str, algorithms: Sequence[str]) -> str:
    """Every run of some algorithms: its QD score on the way, and its final values."""
    found, common, _ = study()
    marks = [common[task] * part // 3 for part in (1, 2, 3)]
    rows = [
        (
            f"`{name}`",
            str(record.seed),
            *(number(float(at(record, "qd_score", mark)), "qd_score") for mark in marks),
            *(number(float(at(record, metric, marks[-1])), metric) for metric in ("coverage", "max_fitness")),
        )
        for name in algorithms
        for record in found.of(task, name)
    ]
    heads = (f"QD score at {marks[0]:,}", *(f"at {mark:,}" for mark in marks[1:]))
    return markdown(("algorithm", "seed", *heads, "coverage", "max fitness"), rows)


def by_operator(task: str, algorithm: str) -> str:
    """What each operator of an algorithm contributed: median, and lowest and highest run."""
    found, common, _ = study()
    every = contributions(found.of(task, algorithm), common)
    rows = []
    for name in dict.fromkeys(one.operator for one in every):
        own = [one for one in every if one.operator == name]
        gained, added = [one.improvement for one in own], [float(one.added) for one in own]
        rows.append((f"`{name}`", _range(gained, "qd_score"), _range(added, "qd_score")))
    return markdown(("operator", "QD score gained after the random policies", "offspring added"), rows)


def over_time(task: str, algorithm: str) -> str:
    """The first run of an algorithm on the way: its archive, and how close injected actors end to their targets."""
    record = study()[0].of(task, algorithm)[0]
    evaluations = record.metrics["evaluations"]
    rows = []
    for part in range(1, PARTS + 1):
        last = int(np.searchsorted(evaluations, record.budget * part / PARTS, side="right"))
        latest = slice(max(0, last - LATEST), last)
        added, similar = (record.metrics[name] for name in ("added_ai", "similarity_ai"))
        values = (number(float(record.metrics[name][last - 1]), name) for name in ("qd_score", "coverage"))
        near = f"{np.nanmean(similar[latest]):.2f}"
        rows.append((f"{int(evaluations[last - 1]):,}", *values, f"{int(added[:last].sum()):,}", near))
    heads = (
        "evaluations",
        "QD score",
        "coverage",
        "injected actors that entered the archive so far",
        f"mean similarity, last {LATEST} generations",
    )
    return markdown(heads, rows)


def generation(task: str, count: int) -> str:
    """The QD score after so many generations, which may have cost different numbers of evaluations."""
    rows = []
    for series in study()[0].series:
        own = [record.metrics for record in study()[0].of(task, series)]
        own = [metrics for metrics in own if len(metrics["generation"]) > count]
        if own:
            scores = [float(metrics["qd_score"][count]) for metrics in own]
            evaluations = f"{int(own[0]['evaluations'][count]):,}"
            rows.append((label(series), str(len(own)), evaluations, _range(scores, "qd_score")))
    return markdown(("algorithm", "runs", "evaluations", "QD score"), rows)


def _range(sample: Sequence[float], metric: str) -> str:
    if not sample:
        return "none"
    ordered = sorted(sample)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    if len(ordered) == 1:
        return number(middle, metric)
    return f"{number(middle, metric)} ({number(ordered[0], metric)} to {number(ordered[-1], metric)})"


def verdicts(found: Sequence[Finding]) -> str:
    """One row per claim: how many of its comparisons hold, are opposite or cannot be told, on each task."""
    tasks = list(dict.fromkeys(finding.task for finding in found))
    rows = []
    for which, said in NUMBERED.items():
        own = [[one for one in found if (one.number, one.task) == (which, task)] for task in tasks]
        rows.append((f"{which}. {said}", *map(_counted, own)))
    return markdown(("claim", *(f"`{task}`" for task in tasks)), rows)


def _counted(found: Sequence[Finding]) -> str:
    if not found:
        return ""
    if all(one.smallest_p >= SIGNIFICANT for one in found):
        return "too few runs"
    counts = Counter(one.verdict for one in found)
    words = {"holds": "hold", "opposite": "opposite", "cannot be told": "cannot be told"}
    return ", ".join(f"{counts[verdict]} {said}" for verdict, said in words.items() if counts[verdict])


def claim(found: Sequence[Finding]) -> str:
    if not found:
        return "*No runs that could test this claim yet.*"
    made = text(found)
    return markdown(made.columns, [tuple(map(str, row)) for row in made.rows])


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (columns, ["---"] * len(columns), *rows)
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)
