"""`report(paths, output)`: a directory of runs as the paper's figures and tables, and one page that tells them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcrl.analysis import page, sections, wording
from dcrl.analysis.collection import Collection, collect
from dcrl.analysis.comparison import Test, Value, budgets, family, split, values
from dcrl.analysis.page import Section
from dcrl.analysis.records import Record
from dcrl.runs.files import write_json


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was compared, and what came out."""

    runs: Collection
    common: dict[str, int]  # task -> evaluations at which its runs are compared
    values: tuple[Value, ...]
    tests: tuple[Test, ...]
    remarks: tuple[str, ...]
    page: Path


def report(
    paths: Iterable[str | Path],
    output: str | Path,
    *,
    evaluations: int | None = None,
    reference: str | None = None,
    on_step: Callable[[str], None] = lambda name: None,
) -> Report:
    """Compare all runs at and below `paths` and write figures, tables and `index.html` into `output`.

    Runs of a task are compared after `evaluations`, by default their smallest budget. `reference` is the series that
    the others are tested against: the first in the paper's order by default.
    """
    places, folder = list(paths), Path(output)
    runs = collect(places)
    common = budgets(runs, evaluations)
    finished, unfinished = split(runs, common)
    shown = _shown(finished, unfinished)
    against = _reference(runs, reference)
    found = values(finished, common)
    tests = family(found, against)
    remarks = [*runs.remarks, *(wording.unfinished(record, common[record.task]) for record in unfinished)]
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    write = sections.Writer(folder / "figures", on_step)

    samples = sections.samples_of(found)
    parts = [
        Section(title="What was compared", parts=(*wording.compared(runs, common), list(remarks or ["Nothing odd."]))),
        Section(title="What came out", parts=wording.outcome(samples, tests, common)),
        Section(title="Over evaluations and time", parts=sections.curves(shown, common, write)),
        Section(title="Final values", parts=sections.final(samples, found, write)),
        Section(title="Tests", parts=sections.tested(tests, write)),
        Section(title="Archives", parts=sections.maps(finished, found, write)),
        Section(title="Reproducibility", parts=sections.reproduced(finished.records, against, write)),
        Section(title="Operators", parts=sections.operators(shown, common, write)),
        Section(title="To repeat this", parts=(_commands(runs, places, folder),)),
    ]
    on_step("index.html")
    page.write(folder / "index.html", wording.title(runs), parts)
    write_json(folder / "remarks.json", remarks)
    return Report(
        runs=runs,
        common=common,
        values=tuple(found),
        tests=tuple(tests),
        remarks=tuple(remarks),
        page=folder / "index.html",
    )


def _shown(finished: Collection, unfinished: Sequence[Record]) -> Collection:
    """What is drawn as curves: unfinished runs only where their series has no finished one."""
    there = {(record.task, record.series) for record in finished.records}
    alone = tuple(record for record in unfinished if (record.task, record.series) not in there)
    return Collection(records=(*finished.records, *alone), remarks=())


def _reference(runs: Collection, asked: str | None) -> str:
    if asked is not None and asked not in runs.series:
        raise ValueError(f"the reference must be one of {', '.join(runs.series)}, got {asked!r}")
    return asked or runs.series[0]


def _commands(runs: Collection, places: Sequence[str | Path], folder: Path) -> tuple[str, ...]:
    """What made the runs, and this report."""
    made = [train_command(record) for record in runs.records]
    return (*made, shlex.join(["dcrl", "report", *map(str, places), "--output", str(folder)]))


def train_command(record: Record) -> str:
    """The command a run's manifest tells; from its configuration where it does not."""
    told = record.manifest.get("command")
    if isinstance(told, list) and len(told) > 1 and told[1] == "train" and all(isinstance(word, str) for word in told):
        return shlex.join(["dcrl", *told[1:]])
    about = ("--algorithm", record.algorithm, "--seed", str(record.seed), "--evaluations", str(record.budget))
    return shlex.join(["dcrl", "train", record.task, *about]) + "  # as its configuration says"
