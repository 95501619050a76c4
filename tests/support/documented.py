"""The examples of a page of documentation: its code blocks, as Python or as commands."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["python", "commands", "text"]
COMMAND = re.compile(
    r"(\.venv/bin/)?dcrl [a-z]|(python3?|pip|make|source|ssh|tensorboard|ray|srun|taskset|[A-Z_]+=\w+) "
)


@dataclass(frozen=True)
class Block:
    """A code block, with the number of its first line."""

    line: int
    kind: Kind
    source: str


def blocks(text: str) -> Iterator[Block]:
    """The fenced and the indented blocks of a page, in order."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        fence = re.match(r"^```(\w*)\s*$", lines[i])
        first, start = i + 1, i
        if fence:
            i = lines.index("```", i + 1) + 1
            source = "\n".join(lines[start + 1 : i - 1])
            yield Block(first, _fenced(fence[1], source), source)
        elif lines[i].startswith("    ") and not (i and lines[i - 1].strip()):
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            source = "\n".join(line[4:] for line in lines[start:i]).rstrip()
            yield Block(first, _indented(source), source)
        else:
            i += 1


def _fenced(language: str, source: str) -> Kind:
    if language == "python":
        return "python"
    return "commands" if language in ("", "bash", "sh", "console") and COMMAND.match(source) else "text"


def _indented(source: str) -> Kind:
    if COMMAND.match(source):
        return "commands"
    try:
        parsed = ast.parse(source)
    except SyntaxError:
        return "text"
    calls = any(isinstance(node, ast.Call | ast.Attribute | ast.Import | ast.Assign) for node in ast.walk(parsed))
    return "python" if calls else "text"


def commands(source: str) -> Iterator[list[str]]:
    """The command lines of a block as words, without comments."""
    for line in source.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words
