"""The main sections of a report: curves, final values, tests, archives, operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dcrl.algorithms.catalogue import ABLATION_FIGURE, ABLATIONS
from dcrl.analysis import captions, panels, tables, wording
from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Curve, Test, Value, at, curve, time_curve
from dcrl.analysis.grids import Key, box_grid, curve_grid
from dcrl.analysis.metrics import STORED, title
from dcrl.analysis.operators import GROUPS, WHATS, contributions, group_curve
from dcrl.analysis.page import Gallery, Part, is_picture
from dcrl.analysis.power import probability_of_superiority, seeds_needed
from dcrl.analysis.records import Record
from dcrl.analysis.writer import Writer
from dcrl.figures.series import algorithm_and_rest
from dcrl.figures.style import label
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire

STORED_MAP_FILES = ("map.png", "figures/archive.png")  # of a run without its archive


def curves(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    def over_evaluations(series: Sequence[str]) -> dict[Key, Curve]:
        return {
            (task, metric, name): curve(shown.of(task, name), metric, common[task])
            for task, metric, name in _panels(shown, series)
        }

    main = [name for name in shown.series if name not in ABLATIONS] or list(shown.series)
    lines = over_evaluations(main)
    parts: list[Part] = [
        write("curves", captions.CURVES, partial(curve_grid, lines), tables.curve_table(lines, "evaluations"))
    ]
    times = {
        (task, metric, name): time_curve(shown.of(task, name), metric) for task, metric, name in _panels(shown, main)
    }
    draw = partial(curve_grid, times, x_label="wall time (s)", log=True)
    parts.append(write("curves_time", captions.CURVES_TIME, draw, tables.curve_table(times, "wall_seconds")))
    if set(ABLATIONS) & set(shown.series) and len(shown.series) > 1:
        lines = over_evaluations([name for name in shown.series if algorithm_and_rest(name)[0] in ABLATION_FIGURE])
        ablated = {task for task, _, name in lines if name in ABLATIONS}
        lines = {key: line for key, line in lines.items() if key[0] in ablated}
        table = tables.curve_table(lines, "evaluations")
        parts.append(write("ablation", captions.ABLATION, partial(curve_grid, lines), table))
    return tuple(parts)


def _panels(shown: Collection, series: Sequence[str]) -> list[Key]:
    return [(t, metric, name) for t in shown.tasks for metric in STORED for name in series if shown.of(t, name)]


def final(samples: Mapping[Key, Sequence[float]], found: Sequence[Value], write: Writer) -> tuple[Part, ...]:
    if not samples:
        return (captions.NOTHING_FINISHED,)
    write.table("final_runs", tables.values_table(found))
    picture = write("final", captions.FINAL, partial(box_grid, samples), tables.summary_table(samples))
    return (picture, tables.summary_text(samples), captions.FINAL_TABLE)


def families_tested(
    families: Sequence[Sequence[Test]], samples: Mapping[Key, Sequence[float]], write: Writer, name: str = "tests"
) -> tuple[Part, ...]:
    """One matrix and one table of needed seeds per family; the second and further ones are named by their reference."""
    parts: list[Part] = []
    for place, tests in enumerate(tests for tests in families if tests):
        suffix = f"_{tests[0].reference}" if place else ""
        draw = partial(panels.family_matrix, tests)
        picture = write(f"{name}{suffix}", captions.TESTS, draw, tables.family_table(tests))
        parts += [*wording.family(tests), picture]
        if any(min(test.counts) > 1 for test in tests):
            parts += [_power(tests, samples, write, f"{name}{suffix}_power"), captions.POWER]
    return tuple(parts) or (captions.NO_TESTS,)


def _power(tests: Sequence[Test], samples: Mapping[Key, Sequence[float]], write: Writer, name: str) -> tables.Table:
    """How many seeds each difference would need: all of it as CSV, and one row per task and metric as text."""
    rows, texts = [], {}
    others = list(dict.fromkeys(test.other for test in tests))
    for test in tests:
        own, other = samples[test.task, test.metric, test.reference], samples[test.task, test.metric, test.other]
        superiority = probability_of_superiority(own, other)
        alone, in_family = seeds_needed(superiority), seeds_needed(superiority, len(tests))
        rows.append((test.task, test.metric, test.reference, test.other, *test.counts, superiority, alone, in_family))
        unknown = superiority != superiority  # NaN, of single runs
        texts[test.task, test.metric, test.other] = "" if unknown else f"{_seeds(alone)} / {_seeds(in_family)}"
    columns = (
        *("task", "metric", "reference", "other", "reference_runs", "other_runs"),
        *("probability_greater", "seeds_alone", "seeds_in_family"),
    )
    write.table(name, tables.Table(columns=columns, rows=tuple(rows)))
    lines = tuple(
        (task, title(metric), *(texts.get((task, metric, other), "") for other in others))
        for task, metric in dict.fromkeys((test.task, test.metric) for test in tests)
    )
    return tables.Table(columns=("task", "seeds needed (alone / in the family)", *map(label, others)), rows=lines)


def _seeds(count: int | None) -> str:
    return "over 1,000" if count is None else f"{count:,}"


def maps(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    """Archives of each task's median runs; a run without an archive shows the picture of its map, if it has one."""
    parts: list[Part] = []
    without = sum(not (record.path / "archive.safetensors").is_file() for record in shown.records)
    pictures = 0
    for task in shown.tasks:
        chosen: dict[str, Repertoire] = {}
        stored: list[tuple[str, bytes]] = []
        for series in shown.series:
            record = median_run(shown.of(task, series), common[task])
            if record is None:
                continue
            if not (record.path / "archive.safetensors").is_file():
                stored += _stored_map(record)
                continue
            try:
                chosen[series] = load(record.path)
            except ValueError as error:
                write.remarks.append(f"There is no map of {series} on {task}: {error}.")
        if len({repertoire.space for repertoire in chosen.values()}) > 1:
            write.remarks.append(f"There are no maps of {task}: its archives have different descriptor spaces.")
        elif chosen:
            draw = partial(panels.archive_maps, chosen)
            parts.append(write(f"archives_{task}", wording.maps(task), draw, tables.archive_table(chosen)))
        if stored:
            parts.append(Gallery(pictures=tuple(stored), caption=f"{task}. {captions.STORED_MAPS}"))
            pictures += len(stored)
    if without:
        write.remarks.append(wording.without_archive(without, len(shown.records), pictures))
    return tuple(parts) or (captions.NO_ARCHIVES,)


def _stored_map(record: Record) -> list[tuple[str, bytes]]:
    """The picture of its map that a run without an archive holds, with its caption."""
    for path in (record.path / name for name in STORED_MAP_FILES):
        if is_picture(path):
            return [(f"{label(record.series)}, seed {record.seed}", path.read_bytes())]
    return []


def median_run(records: Sequence[Record], evaluations: int) -> Record | None:
    """The run whose QD score after so many evaluations is closest to the median of its series."""
    if not records:
        return None
    scores = np.array([float(at(record, "qd_score", evaluations)) for record in records])
    return records[int(np.argmin(np.abs(scores - np.median(scores))))]


def operators(shown: Collection, common: Mapping[str, int], write: Writer) -> tuple[Part, ...]:
    parts: list[Part] = []
    for what, caption in zip(WHATS, (captions.IMPROVEMENT, captions.ADDED), strict=True):
        lines: dict[Key, Curve] = {}
        for task in shown.tasks:
            for name in GROUPS:
                for series in shown.series:
                    records = shown.of(task, series)
                    line = group_curve(records, what, name, common[task]) if records else None
                    if line is not None:
                        lines[task, name, series] = line
        lines = dict(
            sorted(lines.items(), key=lambda item: GROUPS.index(item[0][1]))
        )  # so that columns have that order
        if lines:
            table = tables.curve_table(lines, "evaluations")
            parts.append(write(what, caption, partial(curve_grid, lines), table))
    write.table("operators", tables.contribution_table(contributions(shown.records, common)))
    write.table("operators_over_evaluations", tables.operator_table(shown, common))
    return (*parts, captions.OPERATORS)
