"""Tasks by name: built in, from installed packages, or your own as `module:object` or `file.py:object`."""

from __future__ import annotations

import importlib
from typing import TypeAlias

from dcrl.tasks import catalogue
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.task import Task
from dcrl.user_code.importing import load
from dcrl.user_code.offered import load_offered, offered, unknown
from dcrl.user_code.reference import is_reference

AnyTask: TypeAlias = Task | GymnasiumTask

GROUP = "dcrl.tasks"  # the entry-point group in which a package offers its tasks

BUILT_IN: dict[str, Task] = {
    name: getattr(importlib.import_module(f"dcrl.tasks.{module}"), name) for name, module in catalogue.BUILT_IN.items()
}


def names() -> tuple[str, ...]:
    """The names of all known tasks."""
    return (*BUILT_IN, *(name for name in offered(GROUP) if name not in BUILT_IN))


def get(task: str | AnyTask) -> AnyTask:
    """A task by its name, by `module:object` or by `path/to/file.py:object`; a task itself is returned as it is."""
    if isinstance(task, Task | GymnasiumTask):
        return task
    if not isinstance(task, str):
        raise ValueError(f"a task is a name, a dcrl.Task or a dcrl.GymnasiumTask, got a {type(task).__name__}")
    if task in BUILT_IN:
        return BUILT_IN[task]
    if task in offered(GROUP):
        return load_offered(GROUP, "task", task, _as_task)
    if is_reference(task):
        return _as_task(load(task, "task", (Task, GymnasiumTask)), task)
    raise unknown("task", task, names())


def _as_task(found: object, name: str) -> AnyTask:
    if not isinstance(found, Task | GymnasiumTask):
        raise ValueError(
            f"{name} must be a dcrl.Task or a dcrl.GymnasiumTask, got an object of type {type(found).__name__}"
        )
    return found
