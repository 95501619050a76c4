"""Fill the tables of the documentation that quote `results/`, and draw the figures of these pages.

    python benchmarks/results_page.py

A table stands between `<!-- results: NAME -->` and `<!-- end of results -->`. NAME is `runs`, `verdicts`, `claim N`,
`final TASK`, `scores TASK ALGORITHM ...`, `contributions TASK ALGORITHM`, `similarity TASK ALGORITHM`, `similarity`,
`generation TASK N`, `qdax TASK`, `levers GROUP`, `finals GROUP`, `against GROUP`, `offline`, `outputs`,
`reached GROUP`, `operators NAME`, `positions`, `penalties`, `alone TASK`, `time TASK`, `marks TASK` or `hour TASK`. A
test fills every page again and compares, so run this whenever `results/` changes.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import fast_tables
import qdax_tables
import study_tables
import tried_tables
from dcrl.analysis.claims import NUMBERED
from dcrl.analysis.report import report
from study_tables import RESULTS, markdown

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FIGURES = ("curves", "ablation", "improvement", "reproducibility")  # of the report, where it has them
MARKED = re.compile(r"(<!-- results: (?P<name>.+?) -->\n).*?(<!-- end of results -->)", re.DOTALL)

# Of the preset `fast` and of QDax's learner: by their names, the columns and what computes the rows
TABLES: dict[str, tuple[Sequence[str], Callable[..., Iterable[tuple[str, ...]]]]] = {
    "qdax": (qdax_tables.COLUMNS, qdax_tables.table),
    "levers": (tried_tables.LEVER_COLUMNS, tried_tables.levers),
    "finals": (tried_tables.FINAL_COLUMNS, tried_tables.finals),
    "against": (tried_tables.AGAINST_COLUMNS, tried_tables.against),
    "offline": (tried_tables.OFFLINE_COLUMNS, tried_tables.offline),
    "outputs": (tried_tables.OUTPUT_COLUMNS, tried_tables.outputs),
    "reached": (tried_tables.SCORE_COLUMNS, tried_tables.to_the_papers_score),
    "operators": (tried_tables.OPERATOR_COLUMNS, tried_tables.operators),
    "positions": (tried_tables.POSITION_COLUMNS, tried_tables.positions),
    "penalties": (tried_tables.PENALTY_COLUMNS, tried_tables.penalties),
    "alone": (tried_tables.ALONE_COLUMNS, tried_tables.alone),
    "time": (fast_tables.TIME_COLUMNS, fast_tables.time_to_quality),
    "marks": (fast_tables.MARK_COLUMNS, fast_tables.at_marks),
    "similarity": (fast_tables.SIMILARITY_COLUMNS, fast_tables.similarities),
    "hour": (fast_tables.HOUR_COLUMNS, fast_tables.hour),
}


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
        return study_tables.runs(study_tables.study()[0])
    if kind == "verdicts" and not argument:
        return study_tables.verdicts(study_tables.tested())
    if kind == "claim" and argument.isdigit() and int(argument) in NUMBERED:
        return study_tables.claim([finding for finding in study_tables.tested() if finding.number == int(argument)])
    if kind == "final" and argument in study_tables.study()[0].tasks:
        return study_tables.final(argument)
    if kind == "scores":
        task, *algorithms = argument.split()
        return study_tables.scores(task, algorithms)
    if kind == "contributions":
        return study_tables.by_operator(*argument.split())
    if kind == "generation":
        task, count = argument.split()
        return study_tables.generation(task, int(count))
    if kind == "similarity" and argument:
        return study_tables.over_time(*argument.split())
    if kind in TABLES:
        columns, rows = TABLES[kind]
        return markdown(columns, [*rows(*argument.split())])
    raise ValueError(f"there is no table {name!r} of results; the first lines of this file list them")


if __name__ == "__main__":
    sys.exit(main())
