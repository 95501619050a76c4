"""Whether a file may say what code is run."""

from __future__ import annotations

from pathlib import Path


def check_task(task: str, run: str | Path, *, trust: bool) -> None:
    """Refuse a task of the form `file.py:object` or `module:object` that a run's file names and nobody vouched for."""
    if ":" in task and not trust:
        raise ValueError(
            f"{run} was trained on {task!r}, and playing it means running that Python code; "
            "if you trust it, say so with --trust-task (in Python, trust_task=True)"
        )
