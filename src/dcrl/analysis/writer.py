"""Where the figures of a report go, with the data behind them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dcrl.analysis.page import Picture
from dcrl.analysis.tables import Table
from dcrl.figures.style import DARK, LIGHT, Theme

LONGEST = 80  # characters of a file's name


def file_name(text: str) -> str:
    """A name that is safe as a part of a file's name: letters, digits, `_`, `-`, `=` and `.` only."""
    return re.sub(r"[^A-Za-z0-9_=.-]+", "_", text).strip("._")[:LONGEST] or "unnamed"


@dataclass(frozen=True)
class Writer:
    """Writes each figure for light and dark pages and its data as CSV, and collects remarks."""

    folder: Path
    on_step: Callable[[str], None]
    remarks: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __call__(self, name: str, caption: str, draw: Callable[[Path, Theme], None], data: Table) -> Picture:
        path = self.folder / f"{self._free(name)}.png"
        self.on_step(f"figures/{path.stem}")
        for theme in (LIGHT, DARK):
            draw(path, theme)
        data.write(path.with_suffix(".csv"))
        return Picture(path=path, caption=caption)

    def table(self, name: str, data: Table) -> None:
        """Write a table that no figure shows."""
        data.write(self.folder / f"{self._free(name)}.csv")

    def _free(self, name: str) -> str:
        """A safe file name that no other figure of the report has."""
        wanted = file_name(name)
        free = next(name for name in (wanted, *(f"{wanted}_{i}" for i in range(2, 9999))) if name not in self.used)
        self.used.add(free)
        return free
