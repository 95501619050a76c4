"""The sections of a report: each draws its figures, writes their data, and says what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from dcrl.analysis import panels, tables, wording
from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Curve, Test, Value, at, curve, family
from dcrl.analysis.expected import expected
from dcrl.analysis.grids import Key, box_grid, curve_grid
from dcrl.analysis.operators import GROUPS, WHATS, contributions, group_curve
from dcrl.analysis.page import Part, Picture
from dcrl.analysis.records import METRICS, Record
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire

ABLATION = ("dcrl_me", "dcg_me", "ablation_ai", "ablation_actor")


@dataclass(frozen=True)
class Writer:
    """Where figures and their data go, who is told, and what there is to remark."""

    folder: Path
    on_step: Callable[[str], None]
    remarks: list[str] = field(default_factory=list)

    def __call__(self, name: str, caption: str, draw: Callable[[Path], None], data: tables.Table) -> Picture:
        self.on_step(f"figures/{name}")
        path = self.folder / f"{name}.png"
        draw(path)
        data.write(path.with_suffix(".csv"))
        return Picture(path=path, caption=caption)


def samples_of(found: Sequence[Value]) -> dict[Key, list[float]]:
    samples: dict[Key, list[float]] = {}
    for value in found:
        if np.isfinite(value.value):
            samples.setdefault((value.task, value.metric, value.series), []).append(value.value)
    return samples


def curves(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    def grid(series: Sequence[str], axis: str) -> dict[Key, Curve]:
        return {
            (task, metric, name): curve(
                shown.of(task, name), metric, axis, common[task] if axis == "evaluations" else np.inf
            )
            for task in shown.tasks
            for metric in METRICS
            for name in series
            if shown.of(task, name)
        }

    main = [name for name in shown.series if not name.startswith("ablation_")] or list(shown.series)
    parts: list[Part] = []
    for name, axis, x_label, caption in (
        ("curves", "evaluations", "evaluations", wording.CURVES),
        ("curves_time", "wall_seconds", "wall time (s)", wording.CURVES_TIME),
    ):
        lines = grid(main, axis)
        parts.append(write(name, caption, partial(curve_grid, lines, x_label=x_label), tables.curve_table(lines, axis)))
    if any(name.startswith("ablation_") for name in shown.series) and len(shown.series) > 1:
        lines = grid([name for name in shown.series if name.partition(" ")[0] in ABLATION], "evaluations")
        table = tables.curve_table(lines, "evaluations")
        parts.append(write("ablation", wording.ABLATION, partial(curve_grid, lines), table))
    return tuple(parts)


def final(samples: Mapping[Key, Sequence[float]], found: Sequence[Value], write: Writer) -> tuple[Part, ...]:
    if not samples:
        return (wording.NOTHING_FINISHED,)
    tables.values_table(found).write(write.folder / "final_runs.csv")
    picture = write("final", wording.FINAL, partial(box_grid, samples), tables.summary_table(samples))
    return (picture, tables.for_people(samples), wording.FINAL_TABLE)


def tested(tests: Sequence[Test], write: Writer) -> tuple[Part, ...]:
    if not tests:
        return (wording.NO_TESTS,)
    picture = write("tests", wording.TESTS, partial(panels.matrix, tests), tables.test_table(tests))
    return (*wording.family(tests), picture)


def reproduced(records: Sequence[Record], reference: str, write: Writer) -> tuple[Part, ...]:
    found, remarks = expected(records)
    write.remarks.extend(remarks)
    if not found:
        return (wording.NOT_EVALUATED,)
    samples = samples_of(found)
    tables.values_table(found).write(write.folder / "reproducibility_runs.csv")
    table = tables.summary_table(samples)
    parts: list[Part] = [write("reproducibility", wording.REPRODUCIBILITY, partial(box_grid, samples), table)]
    parts.append(tables.for_people(samples))
    tests = family(found, reference)
    if tests:
        draw = partial(panels.matrix, tests)
        picture = write("reproducibility_tests", wording.TESTS, draw, tables.test_table(tests))
        parts += [*wording.family(tests), picture]
    return tuple(parts)


def maps(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    parts: list[Part] = []
    for task in shown.tasks:
        chosen: dict[str, Repertoire] = {}
        for series in shown.series:
            record = median_run(shown.of(task, series), common[task])
            try:
                if record is not None:
                    chosen[series] = load(record.path)
            except ValueError as error:
                write.remarks.append(f"There is no map of {series} on {task}: {error}.")
        spaces = {repertoire.space for repertoire in chosen.values()}
        if len(spaces) > 1:
            write.remarks.append(f"There are no maps of {task}: its archives are of different descriptor spaces.")
        elif chosen:
            draw = partial(panels.archive_maps, chosen)
            parts.append(write(f"archives_{task}", wording.maps(task), draw, tables.archive_table(chosen)))
    return tuple(parts) or (wording.NO_ARCHIVES,)


def median_run(records: Sequence[Record], evaluations: int) -> Record | None:
    """The run whose QD score after so many evaluations is closest to the median of its series."""
    if not records:
        return None
    scores = np.array([float(at(record, "qd_score", evaluations)) for record in records])
    return records[int(np.argmin(np.abs(scores - np.median(scores))))]


def operators(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    parts: list[Part] = []
    for what, caption in zip(WHATS, (wording.IMPROVEMENT, wording.ADDED), strict=True):
        lines: dict[Key, Curve] = {}
        for task in shown.tasks:
            for name in GROUPS:
                for series in shown.series:
                    records = shown.of(task, series)
                    line = group_curve(records, what, name, common[task]) if records else None
                    if line is not None:
                        lines[task, name, series] = line
        if lines:
            table = tables.curve_table(lines, "evaluations")
            parts.append(write(what, caption, partial(curve_grid, lines), table))
    tables.contribution_table(contributions(shown.records)).write(write.folder / "operators.csv")
    tables.operator_table(shown, common).write(write.folder / "operators_over_evaluations.csv")
    return (*parts, wording.OPERATORS)
