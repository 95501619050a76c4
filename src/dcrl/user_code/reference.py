"""References to Python objects, `file.py:object` or `module:object`, and the file each one names."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path


@dataclass(frozen=True)
class Reference:
    """An object of a file or of a module."""

    where: str  # a path that ends in .py, relative to the current directory or absolute, or a module's name
    name: str

    def __str__(self) -> str:
        return f"{self.where}:{self.name}"

    @property
    def is_file(self) -> bool:
        return self.where.endswith(".py")


def is_reference(text: str) -> bool:
    """Whether a text names code; if not, it is the name of something installed."""
    return ":" in text


def parse(text: str) -> Reference:
    where, _, name = text.rpartition(":")
    return Reference(where, name)


def article(noun: str) -> str:
    """The noun with its article: a task, an algorithm."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def source_file(text: str) -> Path | None:
    """The file that importing a reference would run, found without running anything; None if there is none."""
    reference = parse(text)
    try:
        found = Path(reference.where) if reference.is_file else _file_of_module(reference.where)
        return found.resolve() if found is not None and found.is_file() else None
    except (OSError, ValueError):  # such as a name with a null byte
        return None


def checksum(file: Path) -> str | None:
    """SHA-256 of a file's content; None if it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def source_checksum(text: str) -> str | None:
    """The checksum of the file that a reference names; None for the name of something installed."""
    file = source_file(text) if is_reference(text) else None
    return None if file is None else checksum(file)


def _file_of_module(name: str) -> Path | None:
    """importlib.util.find_spec would import the parent packages; this asks Python's finders only."""
    spec: ModuleSpec | None = None
    path: Sequence[str] | None = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = _spec(".".join(parts[:count]), path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    found = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    return next((spec for spec in found if spec is not None), None)
