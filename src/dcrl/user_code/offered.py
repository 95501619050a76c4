"""Tasks and algorithms by name, as installed packages offer them in their entry points."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from dcrl.user_code.importing import described

Kind = TypeVar("Kind")


@cache
def offered(group: str) -> dict[str, EntryPoint]:
    """What installed packages offer in an entry-point group, such as `dcrl.tasks`, by name."""
    return {point.name: point for point in entry_points(group=group)}


def load_offered(group: str, noun: str, name: str, checked: Callable[[object, str], Kind]) -> Kind:
    """What a package offers under a name; `checked` refuses an object of another kind."""
    try:
        return checked(offered(group)[name].load(), name)
    except Exception as error:  # any exception that the package raises when it is imported
        raise ValueError(f"cannot load the installed {noun} {name!r}: {described(error)}") from error


def unknown(noun: str, name: str, known: Sequence[str]) -> ValueError:
    """The error for a name that nothing has, with the closest known one."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return ValueError(
        f"there is no {noun} {name!r}{hint} Known {noun}s: {', '.join(known)}; "
        "or give your own as module:object or file.py:object"
    )
