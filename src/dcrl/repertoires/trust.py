"""Consent to run the Python code that a file names as its task."""

from __future__ import annotations

from pathlib import Path


def check_task(task: str, run: str | Path, *, trust: bool) -> None:
    """Refuse a task of the form `file.py:object` or `module:object` unless the user trusts it."""
    if ":" in task and not trust:
        raise ValueError(
            f"{run} was trained on {task!r}, and using it runs that Python code; "
            "if you trust it, add --trust-task (in Python, trust_task=True)"
        )
