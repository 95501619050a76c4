"""Whether a node of a cluster has what the machine that gives it work has: the same versions, and the user's files."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from dcrl.user_code.reference import is_reference, parse
from dcrl.version import versions


def mismatch(expected: Mapping[str, str | None]) -> str | None:
    """How the packages of this node differ from those of the machine that started the work."""
    here = versions()
    odd = [f"{name} {here[name]} instead of {expected[name]}" for name in here if here[name] != expected.get(name)]
    if not odd:
        return None
    return f"node {platform.node()} has {', '.join(odd)}; install the same versions on all nodes"


def missing_file(words: Iterable[str], directory: Path) -> str | None:
    """The first file.py:object of some words, relative to a directory, whose file this node does not have."""
    for word in words:
        if is_reference(word) and parse(word).is_file and not (file := directory / parse(word).where).is_file():
            return (
                f"node {platform.node()} has no file {file}; a task or an algorithm of your own must be at the same "
                "path on every node"
            )
    return None
