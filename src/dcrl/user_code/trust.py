"""Consent to run Python code that a file names, remembered per user.

Code that the user names runs. Code that a run or a repertoire names runs only if the user has used the same file
before, unchanged: its path and SHA-256 are then in the state directory, which only that user can read and write.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from dcrl.files import read_json, write_bytes
from dcrl.user_code.reference import checksum, source_file


def check(text: str, noun: str, run: str | Path, *, trust: bool) -> None:
    """Refuse code that the user has not agreed to run; `trust` is consent, and is remembered."""
    if trust:
        remember(text)
    elif not is_trusted(text):
        file = source_file(text)
        changed = ", which has changed since you last used it" if file is not None and _entry(file) else ""
        raise ValueError(
            f"{run} has the {noun} {text!r}, and using it runs the Python code in {file or text}{changed}; "
            f"if you trust it, add --trust-{noun} (in Python, trust_{noun}=True)"
        )


def is_trusted(text: str) -> bool:
    """Whether the user has used this very file before."""
    file = source_file(text)
    if file is None:
        return False
    found = _entry(file)
    return found is not None and found == {"file": str(file), "sha256": checksum(file)}


def remember(text: str) -> None:
    """Note that the user has agreed to run this file as it is now. Without a state directory nothing is noted."""
    file = source_file(text)
    if file is None:
        return
    place = _place(file)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.parent.chmod(0o700)
        content = json.dumps({"file": str(file), "sha256": checksum(file)}, indent=2) + "\n"
        write_bytes(place, content.encode(), mode=0o600)


def state_directory() -> Path:
    """What is remembered between commands: DCRL_STATE, or the user's state directory."""
    default = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dcrl"
    return Path(os.environ.get("DCRL_STATE") or default)


def _place(file: Path) -> Path:
    return state_directory() / "trusted" / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _entry(file: Path) -> object:
    """What is remembered of a file; nothing that somebody else could have written."""
    place = _place(file)
    try:
        return read_json(place) if all(_is_private(path.lstat()) for path in (place.parent, place)) else None
    except (OSError, ValueError):
        return None


def _is_private(found: os.stat_result) -> bool:
    own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return own and not stat.S_ISLNK(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
