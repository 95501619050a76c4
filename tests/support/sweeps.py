"""Small sweeps: their command lines, and what they must agree in wherever they were made."""

from __future__ import annotations

import csv
from pathlib import Path

from support.commands import COMMAND
from support.small_runs import ARCHIVE

SMALL = ("--ga-offspring", "16", *ARCHIVE)
FILES = ("archive.safetensors", "config.json", "metrics.csv")


def line(output: Path, *arguments: str, flags: tuple[str, ...] = SMALL) -> list[str]:
    """The command line of a sweep of `me` on `point_omni`."""
    return [
        str(COMMAND),
        "sweep",
        "point_omni",
        "--algorithms",
        "me",
        "--output",
        str(output),
        *arguments,
        "--",
        *flags,
    ]


def results(output: Path) -> dict[str, bytes]:
    """The files of all runs below a directory that must be equal byte by byte; metrics without the wall time."""
    return {
        f"{run.relative_to(output)}/{name}": _content(run / name)
        for run in sorted(output.glob("*/*/seed-?"))
        for name in FILES
    }


def _content(path: Path) -> bytes:
    if path.suffix != ".csv":
        return path.read_bytes()
    with open(path, newline="") as file:
        rows = [{name: value for name, value in row.items() if name != "wall_seconds"} for row in csv.DictReader(file)]
    return repr(rows).encode()
