"""Names of tasks, which are also names of directories."""

from __future__ import annotations

import re
import reprlib

NAME = re.compile(r"[^\W_][\w.+-]{0,99}")


def checked_name(name: str) -> str:
    """The name, if a directory can have it on any system."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            "a task's name begins with a letter or a digit and has at most 100 letters, digits, and _ . + -; "
            f"got {reprlib.repr(name)}"
        )
    return name
