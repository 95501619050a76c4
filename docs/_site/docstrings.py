"""Docstrings as this project writes them: plain text, aligned columns, and comments behind the fields of a class."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from typing import Any

from sphinx.application import Sphinx

# fitness: Floats  # (C,), NaN where empty
FIELD = re.compile(r"^    (\w+): [^#\n]*#:? (.+)$", re.MULTILINE)


def comments(owner: type) -> dict[str, str]:
    """What the comments behind the fields of a class say."""
    return {
        field: text for base in reversed(owner.__mro__[:-1]) for field, text in FIELD.findall(inspect.getsource(base))
    }


def describe(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    if what == "attribute" and not any(lines):
        owner = _owner(name)
        lines[:] = [comments(owner).get(name.rpartition(".")[2], "")] if owner else lines
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip())
    lines[:] = "\n\n".join(map(_as_written, blocks)).splitlines()


def _as_written(block: str) -> str:
    """A block with aligned columns keeps its lines; in any other, only backticks are markup."""
    if re.search(r"\S {2,}\S", block):
        return "::\n\n" + textwrap.indent(block, "    ")
    return block.replace("*", r"\*").replace("|", r"\|")


def _owner(name: str) -> type | None:
    module, _, owner = name.rpartition(".")[0].rpartition(".")
    found = getattr(sys.modules.get(module), owner, None)
    return found if isinstance(found, type) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
