"""Counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def plural(count: int, noun: str) -> str:
    """A count with its noun, whose plural ends in s: 1 run, 2 runs, 1,024 runs."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """Names joined by commas, or by semicolons if one of them contains a comma."""
    given = tuple(names)
    return ("; " if any("," in name for name in given) else ", ").join(given)
