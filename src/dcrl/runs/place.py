"""Where a run is on disk: a directory named after its task and its algorithm, refused if it holds a run of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dcrl.algorithms import registry as algorithms
from dcrl.files import read_json
from dcrl.repertoires import trust
from dcrl.runs.config import RunConfig
from dcrl.tasks.naming import checked_name
from dcrl.tasks.registry import AnyTask
from dcrl.user_code import location
from dcrl.user_code.reference import is_reference

Own: TypeAlias = Mapping[str, Mapping[str, str]]  # "task" and "algorithm", where they are the user's own


def directory(output: Path, config: RunConfig, task: AnyTask) -> Path:
    """`<output>/<task>/<algorithm>/seed-<n>`."""
    return output / folder(config.task, task) / algorithms.get(config.algorithm).name / f"seed-{config.seed}"


def folder(reference: str, task: AnyTask) -> str:
    """The name under which a task's runs are kept: its own name if it is given as `file.py:object`."""
    return checked_name(task.name if is_reference(reference) else reference)


def describe(reference: str | None, algorithm: str | None, task: AnyTask, run: Path) -> dict[str, dict[str, str]]:
    """What the manifest says of a task and an algorithm of the user's own: their names and where they are."""
    own = {}
    if reference is not None and is_reference(reference):
        own["task"] = {"name": task.name, **location.describe(reference, run)}
    if algorithm is not None and is_reference(algorithm):
        own["algorithm"] = {"name": algorithms.get(algorithm).name, **location.describe(algorithm, run)}
    return own


def check_owner(path: Path, config: RunConfig, own: Own) -> None:
    """Refuse a directory that holds a run of another task or algorithm of that name; damaged files belong to nobody."""
    try:
        content = read_json(path / "config.json")
    except ValueError:
        return
    for noun, reference in (("task", config.task), ("algorithm", config.algorithm)):
        theirs = content.get(noun) if isinstance(content, dict) else None
        if isinstance(theirs, str) and not is_same(noun, path, theirs, reference, own.get(noun)):
            name = own[noun]["name"] if noun in own else reference
            raise ValueError(
                f"{path} holds a run of the {noun} {theirs!r}, not of {reference!r}, which has the same name {name!r}; "
                "give one of the two another name, or use another --output"
            )


def is_same(noun: str, path: Path, theirs: str, reference: str, own: Mapping[str, Any] | None) -> bool:
    """Whether the run at `path`, whose configuration names `theirs`, has the task or algorithm that `own` describes."""
    if own is None or not is_reference(theirs):
        return theirs == reference
    return location.is_same({"reference": theirs} | dict(trust.own(noun, path)), own)
