"""`dcrl report RUNS ...`: figures, tables and tests that compare runs, and one page with all of them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro

from dcrl.analysis.options import AT_SECONDS, Options
from dcrl.cli import output as printing


def run(
    paths: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUNS ...")],
    /,
    *,
    output: Path = Path("report"),
    evaluations: int | None = None,
    reference: Annotated[tuple[str, ...], tyro.conf.arg(metavar="ALGORITHM ...")] = (),
    threshold: float | None = None,
    corrected_threshold: float | None = None,
    at_seconds: Annotated[tuple[float, ...], tyro.conf.arg(metavar="SECONDS ...")] = AT_SECONDS,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Compare runs over seeds: curves, time to quality, final values, tests, archives, operators, reproducibility.

    Finds all runs at and below the given directories, of any tasks, algorithms and seeds, including unfinished ones
    and copies without archives, and lists what limits their comparison.

    Args:
        paths: run directories, or directories that contain them, such as runs
        output: the directory to write; open its index.html
        evaluations: compare after this many evaluations; by default the smallest budget among the runs of a task
        reference: algorithms that all others are tested against, one family of tests each; by default the first in
            the paper's order
        threshold: QD score for the time to quality; by default the final median of the first reference, per task
        corrected_threshold: the same for the corrected QD score of re-evaluated archives; by default the median of the
            last ones of the first reference, per task
        at_seconds: list QD scores after these numbers of seconds of wall time
        overwrite: replace an existing report
        json: print a JSON object
    """
    from dcrl.analysis.report import report

    if not paths:
        raise ValueError("no runs given; name at least one directory, such as `dcrl report runs`")
    if evaluations is not None and evaluations < 1:
        raise ValueError(f"runs are compared after at least 1 evaluation, got {evaluations}")
    for wanted in (threshold, corrected_threshold):
        if wanted is not None and not math.isfinite(wanted):
            raise ValueError(f"the threshold must be a finite QD score, got {wanted}")
    if not all(math.isfinite(second) and second > 0 for second in at_seconds):
        raise ValueError(f"--at-seconds takes positive numbers, got {' '.join(f'{s:g}' for s in at_seconds)}")
    if (output / "index.html").exists() and not overwrite:
        raise ValueError(f"{output} already contains a report; --overwrite replaces it, another --output keeps it")
    if output.exists() and not output.is_dir():
        raise ValueError(f"the report is a directory, but {output} is a file; choose another --output")
    say = (lambda name: None) if json else (lambda name: print(f"writing {output / name}", flush=True))
    options = Options(
        evaluations=evaluations,
        references=reference,
        threshold=threshold,
        corrected_threshold=corrected_threshold,
        at_seconds=at_seconds,
    )
    made = report(paths, output, options, on_step=say)
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
