"""Algorithms by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcrl.algorithms.compose import Composition, Setting
from dcrl.algorithms.dcrl_me import DCRLConfig, dcrl_me
from dcrl.algorithms.me import MEConfig, me


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An algorithm: a line about it, its configuration's type, and what builds it."""

    name: str
    summary: str
    config: type[Any]
    build: Callable[[Setting, Any], Composition]


ALGORITHMS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            name="dcrl_me",
            summary="DCRL-MAP-Elites: genetic, descriptor-conditioned policy-gradient and actor-injection offspring",
            config=DCRLConfig,
            build=dcrl_me,
        ),
        Entry(name="me", summary="MAP-Elites: genetic offspring alone", config=MEConfig, build=me),
    )
}


def get(name: str) -> Entry:
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    close = difflib.get_close_matches(name, ALGORITHMS, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ValueError(f"there is no algorithm {name!r}{hint} Known algorithms: {', '.join(ALGORITHMS)}")
