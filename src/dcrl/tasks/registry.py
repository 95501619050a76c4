"""Tasks by name: built in, from installed packages, or your own as `module:object` or `file.py:object`."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeAlias

from dcrl.tasks import catalogue
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.task import Task

AnyTask: TypeAlias = Task | GymnasiumTask

GROUP = "dcrl.tasks"  # the entry-point group in which a package offers its tasks

BUILT_IN: dict[str, Task] = {
    name: getattr(importlib.import_module(f"dcrl.tasks.{module}"), name) for name, module in catalogue.BUILT_IN.items()
}


@cache
def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def names() -> tuple[str, ...]:
    """The names of all known tasks."""
    return (*BUILT_IN, *(name for name in _offered() if name not in BUILT_IN))


def get(task: str | AnyTask) -> AnyTask:
    """A task by its name, by `module:object` or by `path/to/file.py:object`; a task itself is returned as it is."""
    if isinstance(task, Task | GymnasiumTask):
        return task
    if not isinstance(task, str):
        raise ValueError(f"a task is a name, a dcrl.Task or a dcrl.GymnasiumTask, got a {type(task).__name__}")
    if task in BUILT_IN:
        return BUILT_IN[task]
    if task in _offered():
        try:
            return _as_task(_offered()[task].load(), task)
        except Exception as error:  # any exception that the package raises when it is imported
            raise ValueError(f"cannot load the installed task {task!r}: {_described(error)}") from error
    if ":" in task:
        return _as_task(_load(task), task)
    close = difflib.get_close_matches(task, names(), n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ValueError(
        f"there is no task {task!r}{hint} Known tasks: {', '.join(names())}; "
        "or give your own as module:object or file.py:object"
    )


def _as_task(found: object, name: str) -> AnyTask:
    if not isinstance(found, Task | GymnasiumTask):
        raise ValueError(
            f"{name} must be a dcrl.Task or a dcrl.GymnasiumTask, got an object of type {type(found).__name__}"
        )
    return found


def _load(reference: str) -> object:
    where, _, attribute = reference.rpartition(":")
    try:
        module = _module_from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise ValueError(f"cannot import {where!r} for task {reference!r}: {error}") from None
    except (SyntaxError, OSError) as error:
        raise ValueError(f"cannot read {where!r} for task {reference!r}: {error}") from None
    except Exception as error:  # any exception that the module raises when it is imported
        raise ValueError(f"cannot import {where!r} for task {reference!r}: {_described(error)}") from error
    if not hasattr(module, attribute):
        raise ValueError(f"{where} has no {attribute!r}; it defines {', '.join(_tasks_in(module)) or 'no task'}")
    return getattr(module, attribute)


def _module_from_file(path: Path) -> object:
    """The module in a file, imported again only when the file has changed."""
    return _imported(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _imported(path: Path, changed: int) -> object:
    """The module, under a name of its own so that it shadows nothing."""
    name = f"dcrl_task_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise OSError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _tasks_in(module: object) -> list[str]:
    return [name for name, value in vars(module).items() if isinstance(value, Task | GymnasiumTask)]
