"""The task and the algorithm of a run or a repertoire: located, and never run as code without consent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.files import read_json
from dcrl.tasks.catalogue import BUILT_IN
from dcrl.user_code import location, trust
from dcrl.user_code.reference import article, is_reference, parse


def usable_task(task: str, run: str | Path, *, given: str | None, trusted: bool) -> str:
    """The name or reference by which the task of `run` can be used from here; running its code needs consent.

    `given` is the same task named by the user, which is consent; `trusted` is consent to the code that the run names.
    """
    return _usable("task", task, run, built_in=task in BUILT_IN, given=given, trusted=trusted)


def usable_algorithm(algorithm: str, run: str | Path, *, given: str | None, trusted: bool) -> str:
    """The same of the algorithm of `run`."""
    return _usable("algorithm", algorithm, run, built_in=algorithm in CATALOGUE, given=given, trusted=trusted)


def _usable(noun: str, text: str, run: str | Path, *, built_in: bool, given: str | None, trusted: bool) -> str:
    if given is not None:
        if built_in:
            raise ValueError(f"{run} has the built-in {noun} {text}; --{noun} is for {article(noun)} of your own")
        if is_reference(given):
            trust.remember(given)
        return given
    if not is_reference(text):
        return text
    found = location.locate(text, noun, Path(run), own(noun, Path(run)))
    trust.check(found, noun, run, trust=trusted)
    return found


def own(noun: str, run: Path) -> Mapping[str, Any]:
    """What the manifest of a run, or the one beside a file, says of the user's own code; empty if it says nothing."""
    try:
        manifest = read_json((run if run.is_dir() else run.parent) / "manifest.json")
    except ValueError:
        return {}
    found = manifest.get(f"own_{noun}") if isinstance(manifest, dict) else None
    return found if isinstance(found, dict) else {}


def name_of(noun: str, text: str, run: Path) -> str:
    """The name of a run's task or algorithm: of one's own it is in the manifest, in earlier versions the object's."""
    named = own(noun, run).get("name") if is_reference(text) else text
    return named if isinstance(named, str) and named.isprintable() and named else parse(text).name
