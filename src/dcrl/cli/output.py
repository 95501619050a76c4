"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH = 300  # columns where there is no terminal: wide enough to break no line


def console() -> Console:
    """Standard output: as wide as the terminal, or of a fixed width in a pipe."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, markup=False)


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


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 run, 2 runs, 1,024 runs."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
