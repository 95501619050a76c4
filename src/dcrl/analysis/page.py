"""A report as one HTML file that needs nothing else: text, tables, and pictures for light and dark mode inside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from dcrl.analysis.tables import Table
from dcrl.figures.style import DARK
from dcrl.files import write_text

STYLE = resources.files("dcrl.analysis") / "report.css"
SCREEN_SCALE = 0.6  # screen pixels per pixel of a picture: one as wide as a printed page fills the column
PNG = b"\x89PNG\r\n\x1a\n"
LARGEST_PICTURE = 4 * 2**20  # bytes, of a picture that a run holds


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure's PNG with the files next to it: its dark variant, PDF and CSV."""

    path: Path
    caption: str


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """Small PNG pictures, each with a name, under one caption."""

    pictures: tuple[tuple[str, bytes], ...]
    caption: str


@dataclass(frozen=True, kw_only=True)
class Remarks:
    """What a reader should know before trusting a comparison."""

    sentences: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Commands:
    """Lines to be typed into a shell."""

    lines: tuple[str, ...]


Part = str | Picture | Gallery | Table | Remarks | Commands  # a string is a paragraph


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


def is_picture(path: Path) -> bool:
    """Whether there is a PNG file of a reasonable size."""
    try:
        with open(path, "rb") as file:
            return path.stat().st_size <= LARGEST_PICTURE and file.read(len(PNG)) == PNG
    except OSError:
        return False


def _anchor(title: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in title.lower())


def _section(section: Section, root: Path) -> str:
    inside = "\n".join(_part(part, root) for part in section.parts)
    return f'<section id="{_anchor(section.title)}">\n<h2>{escape(section.title)}</h2>\n{inside}\n</section>'


def _part(part: Part, root: Path) -> str:
    match part:
        case Picture():
            return _figure(part, root)
        case Gallery():
            images = [(escape(n), f'<img alt="{escape(n)}" src="{_data(content)}">') for n, content in part.pictures]
            shown = "".join(f"<figure>{image}<figcaption>{name}</figcaption></figure>" for name, image in images)
            return f'<div class="gallery">{shown}</div><p class="caption">{_text(part.caption)}</p>'
        case Table():
            return _table(part)
        case Remarks():
            return '<ul class="remarks">' + "".join(f"<li>{_text(s)}</li>" for s in part.sentences) + "</ul>"
        case Commands():
            return f"<pre>{escape(chr(10).join(part.lines))}</pre>"
    return f"<p>{_text(part)}</p>"


def _text(text: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _figure(part: Picture, root: Path) -> str:
    picture = part.path.read_bytes()
    width = int.from_bytes(picture[16:20], "big") * SCREEN_SCALE  # where a PNG says it
    dark = part.path.with_stem(part.path.stem + DARK.suffix)
    source = (
        f'<source media="(prefers-color-scheme: dark)" srcset="{_data(dark.read_bytes())}">' if dark.exists() else ""
    )
    files = ", ".join(
        str(file.relative_to(root))
        for file in (part.path.with_suffix(suffix) for suffix in (".png", ".pdf", ".csv"))
        if file.exists()
    )
    caption = f"{_text(part.caption)} Files: {escape(files)}."
    image = f'<img width="{width:.0f}" alt="{escape(part.caption)}" src="{_data(picture)}">'
    return (
        f'<figure><div class="scroll" tabindex="0"><picture>{source}{image}</picture></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _data(picture: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "\n".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'
    )


def _cell(value: str | float | int | None) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"<td>{escape(text)}</td>"
