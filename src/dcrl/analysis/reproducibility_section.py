"""The section of a report on re-evaluated archives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from dcrl.analysis import captions, tables
from dcrl.analysis.comparison import family, samples_of
from dcrl.analysis.grids import box_grid
from dcrl.analysis.metrics import number
from dcrl.analysis.page import Part
from dcrl.analysis.re_evaluation import Cells, cell_tables, re_evaluated
from dcrl.analysis.records import Record
from dcrl.analysis.sections import families_tested
from dcrl.analysis.writer import Writer
from dcrl.figures.style import label


def reproducibility(records: Sequence[Record], references: Sequence[str], write: Writer) -> tuple[Part, ...]:
    found, remarks = re_evaluated(records)
    write.remarks.extend(remarks)
    if not found:
        return (captions.NOT_EVALUATED,)
    samples = samples_of(found)
    write.table("reproducibility_runs", tables.values_table(found))
    table = tables.summary_table(samples)
    parts: list[Part] = [
        write("reproducibility", captions.REPRODUCIBILITY, partial(box_grid, samples), table),
        tables.summary_text(samples),
    ]
    cells, remarks = cell_tables(records)
    write.remarks.extend(remarks)
    if cells:
        parts += [_cells(cells, write), captions.CELLS]
    families = [family(found, reference) for reference in references]
    if any(families):
        parts += families_tested(families, samples, write, "reproducibility_tests")
    return tuple(parts)


def _cells(found: Sequence[Cells], write: Writer) -> tables.Table:
    fields = ("task", "series", "seed", "cells", "stored_fitness", "mean_fitness", "fitness_deviation", "stay_in_cell")
    rows = tuple(tuple(getattr(one, name) for name in fields) for one in found)
    write.table("reproducibility_cells", tables.Table(columns=fields, rows=rows))
    lines: list[tuple[tables.Cell, ...]] = []
    for task, series in dict.fromkeys((one.task, one.series) for one in found):
        own = [one for one in found if (one.task, one.series) == (task, series)]
        medians = [float(np.median([getattr(one, name) for one in own])) for name in fields[3:7]]
        stay = float(np.median([one.stay_in_cell for one in own]))
        numbers = ("" if np.isnan(value) else number(value) for value in medians)
        lines.append((task, label(series), len(own), *numbers, f"{stay:.1%}"))
    heads = ("cells", "stored fitness", "mean fitness", "standard deviation", "stay in their cell")
    return tables.Table(columns=("task", "policies", "runs", *heads), rows=tuple(lines))
