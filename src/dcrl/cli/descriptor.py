"""Descriptors on the command line."""

from __future__ import annotations


def numbers(text: str) -> list[float]:
    """`0.4,0.7` as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--descriptor is comma-separated numbers, such as 0.4,0.7, got {text!r}") from None
