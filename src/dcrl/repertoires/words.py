"""Counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 run, 2 runs, 1,024 runs, 3 policies."""
    many = f"{noun[:-1]}ies" if noun.endswith("cy") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def listed(names: Iterable[str]) -> str:
    """Names joined by commas, or by semicolons if one of them contains a comma."""
    given = tuple(names)
    return ("; " if any("," in name for name in given) else ", ").join(given)
