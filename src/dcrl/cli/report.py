"""`dcrl report RUNS…`: the figures, tables and tests of a directory of runs, and one page that tells them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli import output as printing


def run(
    paths: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUNS ...")],
    /,
    *,
    output: Path = Path("report"),
    evaluations: int | None = None,
    reference: str | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Compare runs: curves, final values, tests, archives, operators and reproducibility, over seeds.

    Finds all runs at and below the given directories, of any tasks, algorithms and seeds, also unfinished ones and
    those copied from elsewhere, and says what makes them hard to compare.

    Args:
        paths: directories of runs, or directories that hold them, such as runs
        output: the directory to write; open its index.html
        evaluations: compare after so many evaluations; by default after the smallest budget of a task's runs
        reference: the algorithm that all others are tested against; by default the first of the paper's order
        overwrite: replace a report that is already there
        json: print a JSON object, for programs
    """
    from dcrl.analysis.report import report

    if not paths:
        raise ValueError("no runs given; name at least one directory, such as `dcrl report runs`")
    if evaluations is not None and evaluations < 1:
        raise ValueError(f"runs are compared after at least 1 evaluation, got {evaluations}")
    if (output / "index.html").exists() and not overwrite:
        raise ValueError(f"{output} holds a report already; --overwrite replaces it, another --output keeps it")
    if output.exists() and not output.is_dir():
        raise ValueError(f"the report is a directory, but {output} is a file; choose another --output")
    say = (lambda name: None) if json else (lambda name: print(f"writing {output / name}", flush=True))
    made = report(paths, output, evaluations=evaluations, reference=reference, on_step=say)
    if json:
        values = [asdict(value) for value in made.values]
        for value in values:
            value["value"] = value["value"] if math.isfinite(value["value"]) else None
        found = {"values": values, "tests": [asdict(test) for test in made.tests]}
        printing.print_json(found | {"remarks": made.remarks, "page": str(made.page)})
        return 0
    for remark in made.remarks:
        print(f"note: {remark}")
    runs, tests = len(made.runs.records), len(made.tests)
    print(f"{runs} run{'s' * (runs != 1)}, {tests} test{'s' * (tests != 1)}; open {made.page}")
    return 0
