"""Algorithms by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.algorithms.dcrl_me import ABLATION_ACTOR, ABLATION_AI, DCG, DCRLConfig, dcrl_me
from dcrl.algorithms.me import MEConfig, me
from dcrl.algorithms.me_es import MEESConfig, me_es
from dcrl.algorithms.pga_me import PGAConfig, pga_me
from dcrl.algorithms.qd_pg import QDPGConfig, qd_pg


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
    entry.name: entry
    for entry in (
        Entry(
            name="dcrl_me",
            summary="DCRL-MAP-Elites: genetic, descriptor-conditioned policy-gradient and actor-injection offspring",
            default=DCRLConfig(),
            build=dcrl_me,
        ),
        Entry(
            name="dcg_me",
            summary="DCG-MAP-Elites: as dcrl_me, but the actor is evaluated for data only instead of injected",
            default=DCG,
            build=dcrl_me,
        ),
        Entry(
            name="pga_me",
            summary="PGA-MAP-Elites: genetic and policy-gradient offspring, and the greedy actor; no conditioning",
            default=PGAConfig(),
            build=pga_me,
        ),
        Entry(
            name="qd_pg",
            summary="QD-PG: genetic offspring, and policy gradients for quality and for novel states",
            default=QDPGConfig(),
            build=qd_pg,
        ),
        Entry(
            name="me_es",
            summary="ME-ES: an evolution strategy that alternates between novelty and fitness",
            default=MEESConfig(),
            build=me_es,
        ),
        Entry(name="me", summary="MAP-Elites: genetic offspring alone", default=MEConfig(), build=me),
        Entry(
            name="ablation_ai",
            summary="dcrl_me without actor injection",
            default=ABLATION_AI,
            build=dcrl_me,
        ),
        Entry(
            name="ablation_actor",
            summary="dcrl_me without actor injection, and with an actor that does not see descriptors",
            default=ABLATION_ACTOR,
            build=dcrl_me,
        ),
    )
}


def get(name: str) -> Entry:
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    close = difflib.get_close_matches(name, ALGORITHMS, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ValueError(f"there is no algorithm {name!r}{hint} Known algorithms: {', '.join(ALGORITHMS)}")
