"""`report(paths, output)`: compare runs and write the paper's figures and tables, and one page with all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcrl.analysis import captions, page, sections, wording
from dcrl.analysis.across_section import across_tasks
from dcrl.analysis.claims_section import claims
from dcrl.analysis.collection import Collection, collect
from dcrl.analysis.commands import commands
from dcrl.analysis.comparison import Test, Value, budgets, family, samples_of, split, values
from dcrl.analysis.corrected_section import corrected_times
from dcrl.analysis.options import Options
from dcrl.analysis.page import Commands, Part, Remarks, Section
from dcrl.analysis.records import Record
from dcrl.analysis.reproducibility_section import reproducibility
from dcrl.analysis.time_section import thresholds, times
from dcrl.analysis.writer import Writer
from dcrl.files import write_json

DEFAULTS = Options()


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was compared, and the results."""

    runs: Collection
    common: dict[str, int]  # task -> evaluations at which its runs are compared
    values: tuple[Value, ...]
    tests: tuple[Test, ...]
    remarks: tuple[str, ...]
    page: Path


def report(
    paths: Iterable[str | Path],
    output: str | Path,
    options: Options = DEFAULTS,
    *,
    on_step: Callable[[str], None] = lambda name: None,
) -> Report:
    """Compare all runs at and below `paths` and write figures, tables and `index.html` into `output`."""
    places, folder = list(paths), Path(output)
    runs = collect(places)
    common = budgets(runs, options.evaluations)
    finished, unfinished = split(runs, common)
    shown = _shown(finished, unfinished)
    references = _references(runs, options.references)
    found = values(finished, common)
    families = [family(found, reference) for reference in references]
    samples = samples_of(found)
    write = Writer(_emptied(folder), on_step)
    wanted = thresholds(runs, samples, references[0], options.threshold)
    threshold_of = references[0] if options.threshold is None else None
    results: dict[str, tuple[Part, ...]] = {
        "Results": wording.outcome(samples, families, common),
        "Over evaluations and time": sections.curves(shown, common, write),
        "Time to quality": (
            *times(runs, wanted, options.at_seconds, write, reference=threshold_of),
            *corrected_times(runs.records, references[0], options.corrected_threshold, options.at_seconds, write),
        ),
        "Final values": sections.final(samples, found, write),
        "The paper's claims": claims(finished.records, found, common, write),
        "Tests": sections.families_tested(families, samples, write),
        "Across tasks": across_tasks(samples, references, write),
        "Archives": sections.maps(shown, common, write),
        "Reproducibility": reproducibility(shown.records, references, write),
        "Operators": sections.operators(shown, common, write),
    }
    remarks = (
        *runs.remarks,
        *(wording.unfinished(record, common[record.task]) for record in unfinished),
        *(
            wording.untested(task, reference)
            for reference in references
            for task in finished.tasks
            if not finished.of(task, reference)
        ),
        *write.remarks,
    )
    compared = (*wording.compared(runs, common), Remarks(sentences=remarks) if remarks else captions.NOTHING_UNEQUAL)
    repeat = Commands(lines=commands(runs, places, folder, options))
    parts = [
        Section(title="Runs compared", parts=compared),
        *(Section(title=title, parts=own) for title, own in results.items() if own),
        Section(title="Reproduce this report", parts=(repeat, captions.REPEAT)),
    ]
    on_step("index.html")
    page.write(folder / "index.html", wording.title(runs), parts)
    write_json(folder / "remarks.json", remarks)
    return Report(
        runs=runs,
        common=common,
        values=tuple(found),
        tests=tuple(test for tests in families for test in tests),
        remarks=remarks,
        page=folder / "index.html",
    )


def _shown(finished: Collection, unfinished: Sequence[Record]) -> Collection:
    """The runs that are drawn: unfinished ones only where their series has no finished one."""
    there = {(record.task, record.series) for record in finished.records}
    alone = tuple(record for record in unfinished if (record.task, record.series) not in there)
    return Collection(records=(*finished.records, *alone), remarks=())


def _references(runs: Collection, asked: Sequence[str]) -> tuple[str, ...]:
    for name in asked:
        if name not in runs.series:
            raise ValueError(f"a reference must be one of {', '.join(runs.series)}, got {name!r}")
    return tuple(dict.fromkeys(asked)) or runs.series[:1]


OWN = (  # files of an earlier report, by the beginnings of their names
    *("curves", "ablation", "final", "tests", "archives_", "improvement", "added", "operators", "reproducibility"),
    *("time_to_threshold", "qd_score_at_seconds", "corrected_over_time", "across_", "claims"),
)


def _emptied(folder: Path) -> Path:
    """The directory of the figures, without those of an earlier report."""
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        for old in (old for name in OWN for kind in ("png", "pdf", "csv") for old in figures.glob(f"{name}*.{kind}")):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write to {folder}: {error.strerror}; choose another --output") from None
    return figures
