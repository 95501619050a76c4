"""One HTML file that shows a repertoire anywhere: its map, and the recorded motions of some of its elites."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import nicegui
import numpy as np

from dcrl.explorer import motions as episodes
from dcrl.explorer import wire
from dcrl.explorer.elements import CLIENT, scripts
from dcrl.explorer.values import Value
from dcrl.files import write_text
from dcrl.repertoires.choice import choose
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.words import plural
from dcrl.tasks import registry
from dcrl.types import Ints

FRAMES = 30.0  # a second; half of what the live page gets, for files half as large
THREE = Path(nicegui.__file__).parent / "elements" / "scene" / "dist" / "index.js"  # begins with its own MIT notice


def spread(repertoire: Repertoire, count: int) -> Ints:
    """At most `count` cells far from one another: the best elite's, then always the farthest from those chosen."""
    if count < 1:
        raise ValueError(f"the number of cells to export must be at least 1, got {count}")
    filled = np.flatnonzero(repertoire.occupied)
    if not len(filled):
        raise ValueError("the repertoire is empty: there is nothing to export")
    low, high = np.asarray(repertoire.space.low), np.asarray(repertoire.space.high)
    places = (repertoire.descriptor[filled] - low) / (high - low)
    picked = [int(np.argmax(repertoire.fitness[filled]))]
    distance = np.full(len(filled), np.inf)
    while len(picked) < min(count, len(filled)):
        distance = np.minimum(distance, np.linalg.norm(places - places[picked[-1]], axis=1))
        distance[picked] = -1
        picked.append(int(np.argmax(distance)))
    cells: Ints = np.sort(filled[picked])
    return cells


def export(
    repertoire: Repertoire, path: Path, cells: Sequence[int], seed: int, values: Sequence[Value] | None = None
) -> int:
    """Record the elites of `cells` and write the file; its size in bytes. The map has fitness, or the given values."""
    coloured = [Value(key="fitness", label="fitness", values=repertoire.fitness)] if values is None else values
    played = (choose(repertoire, cell=int(cell)) for cell in cells)
    motions = {elite.cell: episodes.message(elite, seed, frames_per_second=FRAMES) for elite in played}
    known = f"{repertoire.algorithm} on " if repertoire.algorithm else ""
    count = int(repertoire.occupied.sum())
    parts = {
        "@STYLE@": (CLIENT / "explore.css").read_text(),
        "@IMPORTS@": wire.dump({"imports": _imports()}),
        "@ARCHIVE@": wire.archive_text(repertoire, coloured, cells),
        "@MOTIONS@": wire.dump(motions),
        "@ABOUT@": wire.dump(
            {
                "title": f"{known}{registry.get(repertoire.task).name}",
                "about": f"{count:,} of {plural(len(repertoire.occupied), 'cell')} filled; "
                f"{plural(len(motions), 'motion')} recorded from the start state of seed {seed}",
            }
        ),
    }
    page = (CLIENT / "export.html").read_text()
    page = re.sub("|".join(parts), lambda mark: parts[mark.group()], page)  # in one pass: texts may hold marks
    write_text(path, page)
    return path.stat().st_size


def _imports() -> dict[str, str]:
    """Scripts as data URLs, under the names by which they import one another: a file may load no other file."""
    files = {"nicegui-scene": THREE} | {f"dcrl-explorer/{script.name}": script for script in scripts()}
    return {name: f"data:text/javascript;base64,{_encoded(script)}" for name, script in files.items()}


def _encoded(script: Path) -> str:
    return base64.b64encode(script.read_bytes()).decode()
