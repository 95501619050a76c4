"""The API pages: `<!-- api: dcrl.train dcrl.load -->` in a page becomes the docstrings of these names."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

MARKER = re.compile(r"^<!-- api: (.+?) -->$", re.MULTILINE)


def find(name: str) -> Any:
    """The object of a full name, such as dcrl.Repertoire or dcrl.archive.novelty."""
    module, _, last = name.rpartition(".")
    if not module:
        return import_module(name)
    owner = find(module)
    return getattr(owner, last) if hasattr(owner, last) else import_module(name)


def directive(name: str) -> str:
    thing = find(name)
    kind = "module" if inspect.ismodule(thing) else "class" if inspect.isclass(thing) else "function"
    return f"```{{eval-rst}}\n.. auto{kind}:: {name}\n```\n"


def insert(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = MARKER.sub(lambda match: "\n".join(map(directive, match[1].split())), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
