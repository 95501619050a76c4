"""What `dcrl evaluate` prints: the cost beforehand, and the stored metrics next to the re-evaluated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from dcrl.cli import output as printing
from dcrl.cli.progress import duration
from dcrl.evaluation.cost import Cost
from dcrl.evaluation.repeats import Repeats
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.words import plural

GIB = 2**30


def print_cost(cost: Cost, repeats: Repeats, repertoire: Repertoire, directory: Path, say: TextIO) -> None:
    elites = len(repeats.cells)
    which = plural(elites, "elite") + (
        f" and the actor on {'its' if elites == 1 else 'their'} {plural(elites, 'cell')}" if repeats.has_actor else ""
    )
    evaluations = "" if repertoire.evaluations is None else f" after {plural(repertoire.evaluations, 'evaluation')}"
    lines = [
        f"{repertoire.algorithm or 'a repertoire'} on {repertoire.task}{evaluations}: {which}, "
        f"{_counted(len(repeats.fitness), 'repeat')} each",
        f"  cost     {plural(cost.episodes, 'episode')}, about {_rounded(cost.steps)} control steps and "
        f"{duration(cost.seconds)} (from a sample of {plural(cost.sampled, 'episode')})",
        f"  memory   about {cost.memory / GIB:.1f} GiB at most",
        f"  writes   {directory}: all episodes, tables, totals, corrected archive, maps; Ctrl-C stops it, and the same "
        "command continues",
    ]
    print("\n".join(lines), file=say, flush=True)


def print_results(totals: dict[str, Any], directory: Path) -> None:
    """Stored, expected and corrected metrics, side by side."""
    stored, elites, actor = totals["stored"], totals["elites"], totals["actor"] or {}
    columns = ("stored", "expected", "corrected", *(("actor",) if actor else ()))
    table = printing.table("", *columns, right=columns)

    def add(label: str, cells: tuple[Any, Any, Any, Any], form: str) -> None:
        table.add_row(label, *("" if cell is None else f"{cell:{form}}" for cell in cells[: len(columns)]))

    for label, name in (("QD score", "qd_score"), ("max fitness", "max_fitness")):
        expected = f"expected_{name}"
        numbers = (stored[name], elites[expected], elites[f"corrected_{name}"], actor.get(expected))
        add(label, numbers, ",.1f")
    add("coverage", (stored["coverage"], None, elites["corrected_coverage"], None), ".1%")
    for target in ("centroid", "stored"):
        name = f"expected_distance_to_{target}"
        add(f"distance to {target}", (None, elites[name], None, actor.get(name)), ".4f")
    printing.console().print(table)
    invalid = elites["invalid"] + actor.get("invalid", 0)
    left_out = f"; {_counted(invalid, 'invalid episode')} left out" if invalid else ""
    home = f"{elites['home']:.0%} of the elites stay in their cell (by their mean descriptor)"
    print(f"{_counted(totals['repeats'], 'repeat')} per policy; {home}{left_out}")
    print(f"results   {directory}")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _rounded(value: float) -> str:
    """A number to two significant digits: a sample gives no more."""
    return f"{float(f'{value:.2g}'):,.0f}"
