"""Algorithms by name: their default configurations, and the functions that build them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.algorithms.ascii_me import ASCIIConfig, ascii_me
from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.algorithms.dcrl_me import ABLATION_ACTOR, ABLATION_AI, DCG, DCRLConfig, dcrl_me
from dcrl.algorithms.me import MEConfig, me
from dcrl.algorithms.me_es import MEESConfig, me_es
from dcrl.algorithms.pga_me import PGAConfig, pga_me
from dcrl.algorithms.qd_pg import QDPGConfig, qd_pg

BUILDERS: dict[str, tuple[Any, Callable[[Setting, Any], Algorithm]]] = {
    "dcrl_me": (DCRLConfig(), dcrl_me),
    "dcg_me": (DCG, dcrl_me),
    "pga_me": (PGAConfig(), pga_me),
    "qd_pg": (QDPGConfig(), qd_pg),
    "me": (MEConfig(), me),
    "me_es": (MEESConfig(), me_es),
    "ascii_me": (ASCIIConfig(), ascii_me),
    "ablation_ai": (ABLATION_AI, dcrl_me),
    "ablation_actor": (ABLATION_ACTOR, dcrl_me),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An algorithm: its summary, its default configuration, and the function that builds it."""

    name: str
    summary: str
    default: Any
    build: Callable[[Setting, Any], Algorithm]

    @property
    def config(self) -> type[Any]:
        return type(self.default)


ALGORITHMS: dict[str, Entry] = {
    name: Entry(name=name, summary=known.summary, default=BUILDERS[name][0], build=BUILDERS[name][1])
    for name, known in CATALOGUE.items()
}


def get(name: str) -> Entry:
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    close = difflib.get_close_matches(name, ALGORITHMS, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ValueError(f"there is no algorithm {name!r}{hint} Known algorithms: {', '.join(ALGORITHMS)}")
