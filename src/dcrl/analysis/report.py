"""`report(paths, output)`: a directory of runs as the paper's figures and tables, and one page that tells them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dcrl.analysis import page, sections, wording
from dcrl.analysis.collection import Collection, collect
from dcrl.analysis.comparison import Test, Value, budgets, family, split, values
from dcrl.analysis.expected import FOLDER
from dcrl.analysis.page import Section
from dcrl.analysis.records import Record
from dcrl.evaluation.files import TOTALS
from dcrl.files import read_json, write_json


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
    samples = sections.samples_of(found)
    write = sections.Writer(_emptied(folder), on_step)
    results = [
        Section(title="What came out", parts=wording.outcome(samples, tests, common)),
        Section(title="Over evaluations and time", parts=sections.curves(shown, common, write)),
        Section(title="Final values", parts=sections.final(samples, found, write)),
        Section(title="Tests", parts=sections.tested(tests, write)),
        Section(title="Archives", parts=sections.maps(shown, common, write)),
        Section(title="Reproducibility", parts=sections.reproduced(shown.records, against, write)),
        Section(title="Operators", parts=sections.operators(shown, common, write)),
    ]
    remarks = [
        *runs.remarks,
        *(wording.unfinished(record, common[record.task]) for record in unfinished),
        *(wording.untested(task, against) for task in finished.tasks if not finished.of(task, against)),
        *write.remarks,
    ]
    compared = (*wording.compared(runs, common), remarks or ["Nothing is missing or unequal."])
    again = _commands(runs, places, folder, evaluations, reference)
    parts = [
        Section(title="What was compared", parts=compared),
        *results,
        Section(title="To repeat this", parts=(again, wording.REPEAT)),
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


OWN = (
    *("curves", "curves_time", "ablation", "final", "final_runs", "tests", "archives_*", "improvement", "added"),
    *("reproducibility", "reproducibility_runs", "reproducibility_tests", "operators", "operators_over_evaluations"),
)


def _emptied(folder: Path) -> Path:
    """The directory of the figures, without those of an earlier report."""
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        for old in (old for name in OWN for kind in ("png", "pdf", "csv") for old in figures.glob(f"{name}.{kind}")):
            old.unlink()
    except OSError as error:
        raise ValueError(f"cannot write to {folder}: {error.strerror}; choose another --output") from None
    return figures


def _commands(
    runs: Collection, places: Sequence[str | Path], folder: Path, evaluations: int | None, reference: str | None
) -> tuple[str, ...]:
    """What made the runs, what evaluated them again, and this report."""
    flags = ["--output", str(folder)]
    flags += ["--evaluations", str(evaluations)] if evaluations is not None else []
    flags += ["--reference", reference] if reference is not None else []
    return (
        *(train_command(record) for record in runs.records),
        *(evaluate_command(record) for record in runs.records if (record.path / FOLDER / TOTALS).is_file()),
        shlex.join(["dcrl", "report", *map(str, places), *flags]),
    )


def train_command(record: Record) -> str:
    """What makes a run like this one: the command its manifest tells, with the budget that it has now."""
    budget = ["--evaluations", str(record.budget)]
    told = record.manifest.get("command")
    if isinstance(told, list) and len(told) > 1 and told[1] == "train" and all(isinstance(word, str) for word in told):
        words = [word for word in told[1:] if word != "--overwrite"]
        for flag in ("--evaluations", "--preset"):
            if flag in words:
                del words[words.index(flag) : words.index(flag) + 2]
        return shlex.join(["dcrl", *words, *budget])
    task = json.loads(record.settings["task"])
    about = ("--algorithm", record.algorithm, "--seed", str(record.seed), *budget)
    return shlex.join(["dcrl", "train", task, *about]) + f"  # and what {record.path / 'config.json'} says"


def evaluate_command(record: Record) -> str:
    words = ["dcrl", "evaluate", str(record.path)]
    with suppress(ValueError, KeyError, TypeError):  # of a damaged file, which the remarks name
        words += ["--repeats", str(int(read_json(record.path / FOLDER / TOTALS)["repeats"]))]
    return shlex.join(words)
