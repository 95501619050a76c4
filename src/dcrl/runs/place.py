"""Where a run is on disk: a directory named after its task, and refused if it holds a run of another task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcrl.files import read_json
from dcrl.repertoires.trust import own_task
from dcrl.runs.config import RunConfig
from dcrl.tasks.naming import checked_name
from dcrl.tasks.registry import AnyTask
from dcrl.user_code import location
from dcrl.user_code.reference import is_reference


def directory(output: Path, config: RunConfig, task: AnyTask) -> Path:
    """`<output>/<task>/<algorithm>/seed-<n>`."""
    return output / folder(config.task, task) / config.algorithm / f"seed-{config.seed}"


def folder(reference: str, task: AnyTask) -> str:
    """The name under which a task's runs are kept: its own name if it is given as `file.py:object`."""
    return checked_name(task.name if is_reference(reference) else reference)


def describe(reference: str, task: AnyTask, run: Path) -> dict[str, str] | None:
    """What the manifest says of a task of the user's own: its name and where it is; None for an installed task."""
    return {"name": task.name, **location.describe(reference, run)} if is_reference(reference) else None


def check_owner(path: Path, reference: str, task: AnyTask, own: Mapping[str, Any] | None) -> None:
    """Refuse a directory that holds a run of another task with the same name; damaged files belong to nobody."""
    try:
        content = read_json(path / "config.json")
    except ValueError:
        return
    theirs = content.get("task") if isinstance(content, dict) else None
    if isinstance(theirs, str) and not is_same_task(path, theirs, reference, own):
        raise ValueError(
            f"{path} holds a run of the task {theirs!r}, not of {reference!r}, which has the same name {task.name!r}; "
            "give one of the two another name, or use another --output"
        )


def is_same_task(path: Path, theirs: str, reference: str, own: Mapping[str, Any] | None) -> bool:
    """Whether the run at `path`, whose configuration names `theirs`, has the task that `own` describes."""
    if own is None or not is_reference(theirs):
        return theirs == reference
    return location.is_same({"reference": theirs} | dict(own_task(path)), own)
