"""Where the code that a run uses is, so that it is found again from another directory or after a move."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcrl.user_code.reference import Reference, checksum, parse, source_file


def describe(text: str, run: Path) -> dict[str, str]:
    """What a run's manifest holds of a reference: the file, absolute and as seen from the run, and its checksum."""
    about = {"reference": text}
    file = source_file(text)
    if file is not None:
        about |= {"file": str(file), "file_from_run": os.path.relpath(file, run.resolve())}
        about |= {"sha256": checksum(file) or ""}
    return about


def locate(text: str, noun: str, run: Path, about: Mapping[str, Any]) -> str:
    """A reference that works from here. Of several files the one that the run used is taken, else the first.

    `about` is what `describe` returned, as read from the manifest of `run`, or empty.
    """
    reference = parse(text)
    if not reference.is_file:
        if source_file(text) is None:
            raise ValueError(
                f"{run} has the {noun} {text!r}, and there is no module {reference.where!r}; install it, or name the "
                f"{noun} with --{noun} FILE:OBJECT"
            )
        return text
    candidates = _candidates(reference, run, about)
    there = [candidate for candidate in candidates if source_file(str(candidate)) is not None]
    if not there:
        listed = " or ".join(dict.fromkeys(os.path.abspath(candidate.where) for candidate in candidates))
        raise ValueError(f"{run} has the {noun} {text!r}, which is not at {listed}; name it with --{noun} FILE:OBJECT")
    same = [candidate for candidate in there if checksum(Path(candidate.where)) == about.get("sha256")]
    return str((same or there)[0])


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two descriptions are of one object: in the same file, or in files with the same content."""
    first, second = (parse(str(about.get("reference"))) for about in (one, other))
    if "file" not in one or "file" not in other:
        return first == second
    same_file = one["file"] == other["file"] or (bool(one.get("sha256")) and one["sha256"] == other.get("sha256"))
    return first.name == second.name and same_file


def _candidates(reference: Reference, run: Path, about: Mapping[str, Any]) -> list[Reference]:
    """As it was given, where it was, and where it is if the run and the file were moved together."""
    directory = (run if run.is_dir() else run.parent).resolve()
    places = [about.get("file"), about.get("file_from_run")]
    known = [os.path.normpath(directory / place) for place in places if isinstance(place, str) and place.isprintable()]
    name = parse(str(about.get("reference", reference))).name  # another one if the user named the task anew
    return [reference, *(Reference(place, name) for place in known)]
