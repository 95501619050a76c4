"""What `dcrl evaluate` says: the cost beforehand, and in the end what the archive promised beside what it keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from dcrl.analysis.cost import Cost
from dcrl.analysis.repeats import Repeats
from dcrl.cli import output as printing
from dcrl.cli.progress import duration
from dcrl.runs.repertoire import Repertoire

GIB = 2**30


def tell(cost: Cost, repeats: Repeats, repertoire: Repertoire, directory: Path, say: TextIO) -> None:
    elites = len(repeats.cells)
    which = f"{elites:,} elites" + (f" and the actor on their {elites:,} cells" if repeats.has_actor else "")
    evaluations = "" if repertoire.evaluations is None else f" after {repertoire.evaluations:,} evaluations"
    lines = [
        f"{repertoire.algorithm or 'a repertoire'} on {repertoire.task}{evaluations}: {which}, "
        f"{_counted(len(repeats.fitness), 'repeat')} each",
        f"  cost     {cost.episodes:,} episodes, about {_rounded(cost.steps)} control steps and "
        f"{duration(cost.seconds)} (from {cost.sampled} episodes played now)",
        f"  memory   about {cost.memory / GIB:.1f} GiB at most",
        f"  writes   {directory}: all episodes, tables, totals, corrected archive, maps; Ctrl-C stops it, and the same "
        "command goes on",
    ]
    print("\n".join(lines), file=say, flush=True)


def report(totals: dict[str, Any], directory: Path) -> None:
    """Promise and truth, side by side."""
    stored, elites, actor = totals["stored"], totals["elites"], totals["actor"]
    table = printing.table("", "stored", "expected", "corrected", *(("actor",) if actor else ()), right=())
    rows = [
        (
            "QD score",
            stored["qd_score"],
            elites["expected_qd_score"],
            elites["corrected_qd_score"],
            "expected_qd_score",
        ),
        (
            *("max fitness", stored["max_fitness"], elites["expected_max_fitness"]),
            *(elites["corrected_max_fitness"], "expected_max_fitness"),
        ),
    ]
    for label, *values, name in rows:
        table.add_row(label, *(_number(v) for v in values), *((_number(actor[name]),) if actor else ()))
    table.add_row(
        *("coverage", f"{stored['coverage']:.1%}", "", f"{elites['corrected_coverage']:.1%}"), *(("",) if actor else ())
    )
    for label, name in (("to centroid", "expected_distance_to_centroid"), ("to stored", "expected_distance_to_stored")):
        own = (_number(actor[name], 4),) if actor else ()
        table.add_row(f"distance {label}", "", _number(elites[name], 4), "", *own)
    printing.console().print(table)
    invalid = elites["invalid"] + (actor["invalid"] if actor else 0)
    print(
        f"{_counted(totals['repeats'], 'repeat')} a policy; {elites['home']:.0%} of the elites land in their own cell on average"
        + (f"; {invalid:,} invalid episodes are left out" if invalid else "")
    )
    print(f"results   {directory}")


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _rounded(value: float) -> str:
    """Two digits are what a sample is worth."""
    return f"{float(f'{value:.2g}'):,.0f}"
