"""The task of a run or a repertoire: located, and never run as code without consent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcrl.files import read_json
from dcrl.tasks.catalogue import BUILT_IN
from dcrl.user_code import location, trust
from dcrl.user_code.reference import is_reference

OWN_TASK = "own_task"  # the manifest's field that describes a task of the form file.py:object or module:object


def usable_task(task: str, run: str | Path, *, given: str | None, trusted: bool) -> str:
    """The name or reference by which the task of `run` can be used from here; running its code needs consent.

    `given` is the same task named by the user, which is consent; `trusted` is consent to the code that the run names.
    """
    if given is not None:
        if task in BUILT_IN:
            raise ValueError(f"{run} has the built-in task {task}; --task is for a task of your own")
        if is_reference(given):
            trust.remember(given)
        return given
    if not is_reference(task):
        return task
    found = location.locate(task, "task", Path(run), own_task(Path(run)))
    trust.check(found, "task", run, trust=trusted)
    return found


def own_task(run: Path) -> Mapping[str, Any]:
    """What the manifest of a run, or the one beside a file, says of the user's own task; empty if it says nothing."""
    try:
        manifest = read_json((run if run.is_dir() else run.parent) / "manifest.json")
    except ValueError:
        return {}
    found = manifest.get(OWN_TASK) if isinstance(manifest, dict) else None
    return found if isinstance(found, dict) else {}
