"""Fill the tables of the documentation that quote `results/`, and draw the figures of these pages.

    python benchmarks/results_page.py

A table stands between `<!-- results: NAME -->` and `<!-- end of results -->`. NAME is `runs`, `verdicts`, `claim N`,
`final TASK`, `scores TASK ALGORITHM ...`, `contributions TASK ALGORITHM`, `generation TASK N`, `qdax TASK`,
`levers GROUP`, `finals GROUP`, `against GROUP`, `offline`, `outputs`, `reached GROUP`, `operators NAME`, `time TASK`,
`marks TASK`, `hour TASK` or `similarity`. A test fills every page again and compares, so run this whenever `results/`
changes.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import fast_tables
import qdax_tables
import tried_tables
from dcrl.analysis.claims import NUMBERED, Finding, findings, improvements
from dcrl.analysis.claims_section import text
from dcrl.analysis.collection import Collection, collect
from dcrl.analysis.comparison import Value, at, budgets, samples_of, split, values
from dcrl.analysis.metrics import STORED, number, title
from dcrl.analysis.operators import contributions
from dcrl.analysis.re_evaluation import re_evaluated
from dcrl.analysis.report import report
from dcrl.analysis.statistics import SIGNIFICANT
from dcrl.figures.style import label

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
FIGURES = ("curves", "ablation", "improvement", "reproducibility")  # of the report, where it has them
MARKED = re.compile(r"(<!-- results: (?P<name>.+?) -->\n).*?(<!-- end of results -->)", re.DOTALL)


def main() -> int:
    for page in pages():
        page.write_text(fill(page.read_text()))
        print(f"filled {page.relative_to(ROOT)}")
    with tempfile.TemporaryDirectory() as folder:
        report([RESULTS], folder)
        for name in FIGURES:
            made = Path(folder) / "figures" / f"{name}.png"
            if made.exists():
                shutil.copyfile(made, DOCS / "pictures" / f"results_{name}.png")
                print(f"drew docs/pictures/results_{name}.png")
    fast_tables.draw(DOCS / "pictures" / "fast_time.png")
    print("drew docs/pictures/fast_time.png")
    for task in sorted(path.name for path in RESULTS.glob("qdax/*")):
        qdax_tables.draw(task, DOCS / "pictures" / f"qdax_{task}.png")
        print(f"drew docs/pictures/qdax_{task}.png")
    return 0


def pages() -> list[Path]:
    """The pages with tables that quote `results/`."""
    return [page for page in sorted(DOCS.rglob("*.md")) if MARKED.search(page.read_text())]


def fill(page: str) -> str:
    """A page with its tables as `results/` gives them now."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found['name'])}\n\n{found[3]}", page)


def table(name: str) -> str:
    kind, _, argument = name.partition(" ")
    if kind == "runs" and not argument:
        return runs(study()[0])
    if kind == "verdicts" and not argument:
        return verdicts(tested())
    if kind == "claim" and argument.isdigit() and int(argument) in NUMBERED:
        return claim([finding for finding in tested() if finding.number == int(argument)])
    if kind == "final" and argument in study()[0].tasks:
        return final(argument)
    if kind == "scores":
        task, *algorithms = argument.split()
        return scores(task, algorithms)
    if kind == "contributions":
        return by_operator(*argument.split())
    if kind == "generation":
        task, count = argument.split()
        return generation(task, int(count))
    if kind == "qdax":
        return markdown(qdax_tables.COLUMNS, [*qdax_tables.table(argument)])
    if kind == "levers":
        return markdown(tried_tables.LEVER_COLUMNS, tried_tables.levers(argument))
    if kind == "finals":
        return markdown(tried_tables.FINAL_COLUMNS, tried_tables.finals(argument))
    if kind == "against":
        return markdown(tried_tables.AGAINST_COLUMNS, tried_tables.against(argument))
    if kind == "offline" and not argument:
        return markdown(tried_tables.OFFLINE_COLUMNS, tried_tables.offline())
    if kind == "outputs" and not argument:
        return markdown(tried_tables.OUTPUT_COLUMNS, tried_tables.outputs())
    if kind == "reached":
        return markdown(tried_tables.SCORE_COLUMNS, tried_tables.to_the_papers_score(argument))
    if kind == "operators":
        return markdown(tried_tables.OPERATOR_COLUMNS, tried_tables.operators(argument))
    if kind == "time":
        return markdown(fast_tables.TIME_COLUMNS, [*fast_tables.time_to_quality(argument)])
    if kind == "marks":
        return markdown(fast_tables.MARK_COLUMNS, [*fast_tables.at_marks(argument)])
    if kind == "similarity" and not argument:
        return markdown(fast_tables.SIMILARITY_COLUMNS, [*fast_tables.similarities()])
    if kind == "hour":
        return markdown(fast_tables.HOUR_COLUMNS, [*fast_tables.hour(argument)])
    raise ValueError(f"there is no table {name!r} of results; the first lines of this file list them")


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


if __name__ == "__main__":
    sys.exit(main())
