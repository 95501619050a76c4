"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 100  # columns of a table where neither a terminal nor COLUMNS says how wide it is
TEXT_WIDTH = 20  # columns that a text gets at least; a narrower table has fewer columns


def console() -> Console:
    """Standard output: as wide as the terminal, or as COLUMNS says, or of a fixed width in a pipe."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else PIPE_WIDTH, highlight=False, markup=False)


def print_lines(lines: Iterable[str]) -> None:
    """Sentences, wrapped in a terminal; in a pipe one line each, so that a program can search them."""
    out = console()
    for line in lines:
        out.print(line, soft_wrap=not out.is_terminal)


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), drop: Sequence[str] = ()
) -> None:
    """A table no wider than the output. Text wraps; the first column and numbers (`right`) are never cut.

    Columns in `drop` are left out, the first of them first, while the rest does not fit. What still does not fit is
    printed one value per line.
    """
    out = console()
    for count in range(len(drop) + 1):
        shown = [heading for heading in headings if heading not in drop[:count]]
        made = _filled(headings, rows, shown, right)
        if _least_width(made, out) <= out.width:
            out.print(made)
            if count:
                out.print(f"A wider terminal also shows: {', '.join(drop[:count])}.")
            return
    for row in rows:
        print("\n".join(f"{heading}: {value}" for heading, value in zip(headings, row, strict=True)), end="\n\n")


def _least_width(made: Table, out: Console) -> int:
    """The columns without which something is cut; rich's own answer is never more than the width there is."""
    return out.measure(made, options=out.options.update(width=10_000)).minimum


def _filled(headings: Sequence[str], rows: Sequence[Sequence[str]], shown: list[str], right: Sequence[str]) -> Table:
    made = table(*shown, right=tuple(right))
    for column in made.columns:
        if not column.no_wrap:
            longest = max(len(row[headings.index(str(column.header))]) for row in rows)
            column.min_width = min(TEXT_WIDTH, longest)
    for row in rows:
        made.add_row(*(value for heading, value in zip(headings, row, strict=True) if heading in shown))
    return made


def table(*headings: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers. The first column and numbers never wrap."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        number = heading in right
        whole = number or heading == headings[0]
        made.add_column(heading, justify="right" if number else "left", no_wrap=whole, overflow="fold")
    return made


def print_json(value: Any) -> None:
    """One JSON document; a number that is not finite is an error, since JSON has none."""
    print(json.dumps(value, indent=2, allow_nan=False))
