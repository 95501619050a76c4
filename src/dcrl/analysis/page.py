"""A report as one HTML file that needs nothing else: text, tables, and pictures inside it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from dcrl.analysis.tables import Table
from dcrl.files import write_text

STYLE = resources.files("dcrl.analysis") / "report.css"
SCREEN_SCALE = 0.6  # of a picture's points: one as wide as a printed page fills the column


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure's PNG, what it shows, and where its data are."""

    path: Path
    caption: str


Part = str | Picture | Table | list[str] | tuple[str, ...]  # paragraph, figure, table, remarks, lines of code


@dataclass(frozen=True, kw_only=True)
class Section:
    title: str
    parts: tuple[Part, ...]


def write(path: Path, title: str, sections: Sequence[Section]) -> None:
    links = " ".join(f'<a href="#{_anchor(s.title)}">{escape(s.title)}</a>' for s in sections)
    body = "\n".join(_section(section, path.parent) for section in sections)
    write_text(
        path,
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>{STYLE.read_text()}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n<nav>{links}</nav>\n{body}\n</body>\n</html>\n",
    )


def _anchor(title: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in title.lower())


def _section(section: Section, root: Path) -> str:
    inside = "\n".join(_part(part, root) for part in section.parts)
    return f'<section id="{_anchor(section.title)}">\n<h2>{escape(section.title)}</h2>\n{inside}\n</section>'


def _part(part: Part, root: Path) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, Picture):
        picture = part.path.read_bytes()
        width = int.from_bytes(picture[16:20], "big") * SCREEN_SCALE  # where a PNG says it
        content = base64.b64encode(picture).decode()
        files = ", ".join(
            str(file.relative_to(root))
            for file in (part.path.with_suffix(suffix) for suffix in (".png", ".pdf", ".csv"))
            if file.exists()
        )
        return (
            f'<figure><img width="{width:.0f}" alt="{escape(part.caption)}" src="data:image/png;base64,{content}">'
            f"<figcaption>{escape(part.caption)} Files: {escape(files)}.</figcaption></figure>"
        )
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, tuple):
        return f"<pre>{escape(chr(10).join(part))}</pre>"
    return '<ul class="remarks">' + "".join(f"<li>{escape(remark)}</li>" for remark in part) + "</ul>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "\n".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _cell(value: str | float | int | None) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    kind = ' class="number"' if isinstance(value, int | float) or text[:1].isdigit() else ""
    return f"<td{kind}>{escape(text)}</td>"
