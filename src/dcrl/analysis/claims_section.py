"""The section of a report on the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcrl.analysis import captions
from dcrl.analysis.claims import NUMBERED, Finding, findings, improvements
from dcrl.analysis.comparison import Value
from dcrl.analysis.metrics import number, title
from dcrl.analysis.page import Part
from dcrl.analysis.re_evaluation import re_evaluated
from dcrl.analysis.records import Record
from dcrl.analysis.tables import Cell, Table
from dcrl.analysis.writer import Writer
from dcrl.figures.style import label

COLUMNS = ("task", "metric", "claim", "runs", "medians", "share of pairs (95 % CI)", "p (Holm)", "verdict")


def claims(
    records: Sequence[Record], found: Sequence[Value], common: Mapping[str, int], write: Writer
) -> tuple[Part, ...]:
    """The paper's claims that these runs can test, one table each; nothing if there is none."""
    tested = findings((*found, *re_evaluated(records)[0], *improvements(records, common)))
    if not tested:
        return ()
    write.table("claims", _all(tested))
    parts: list[Part] = [captions.CLAIMS]
    for which in dict.fromkeys(finding.number for finding in tested):
        parts += [f"{which}. {NUMBERED[which]}", text([finding for finding in tested if finding.number == which])]
    return tuple(parts)


def text(tested: Sequence[Finding]) -> Table:
    """The comparisons of one claim, for people."""
    return Table(columns=COLUMNS, rows=tuple(_row(finding) for finding in tested))


def _row(f: Finding) -> tuple[Cell, ...]:
    share = f"{f.share_better.value:.2f}"
    if not np.isnan(f.share_better.low):
        share += f" ({f.share_better.low:.2f} to {f.share_better.high:.2f})"
    return (
        f.task,
        title(f.metric),
        f"{label(f.better)} better than {label(f.other)}",
        f"{f.counts[0]}, {f.counts[1]}",
        f"{number(f.medians[0], f.metric)}, {number(f.medians[1], f.metric)}",
        share,
        f"{f.corrected_p:.2g}",
        f.verdict,
    )


def _all(tested: Sequence[Finding]) -> Table:
    columns = (
        *("claim", "task", "metric", "better", "other", "better_runs", "other_runs", "better_median", "other_median"),
        *("share_of_pairs_better", "ci_low", "ci_high", "p", "p_holm", "verdict"),
    )
    rows = tuple(
        (
            *(f.number, f.task, f.metric, f.better, f.other, *f.counts, *f.medians),
            *(f.share_better.value, f.share_better.low, f.share_better.high, f.p, f.corrected_p, f.verdict),
        )
        for f in tested
    )
    return Table(columns=columns, rows=rows)
