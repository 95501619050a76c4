"""Names of tasks and algorithms, which are also names of directories."""

from __future__ import annotations

import re
import reprlib

from dcrl.user_code.reference import article

NAME = re.compile(r"[^\W_][\w.+-]{0,99}")


def checked_name(name: str, noun: str = "task") -> str:
    """The name, if a directory can have it on any system."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            f"{article(noun)}'s name begins with a letter or a digit and has at most 100 "
            f"letters, digits, and _ . + -; got {reprlib.repr(name)}"
        )
    return name
