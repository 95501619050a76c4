"""Algorithms by name: built in, from installed packages, or your own as `module:object` or `file.py:object`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.algorithms.ascii_me import ASCIIConfig, ascii_me
from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.algorithms.dcrl_me import ABLATION_ACTOR, ABLATION_AI, DCG, DCRLConfig, dcrl_me
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.algorithms.me import MEConfig, me
from dcrl.algorithms.me_es import MEESConfig, me_es
from dcrl.algorithms.pga_me import PGAConfig, pga_me
from dcrl.algorithms.qd_pg import QDPGConfig, qd_pg
from dcrl.user_code.importing import load
from dcrl.user_code.offered import load_offered, offered, unknown
from dcrl.user_code.reference import is_reference

GROUP = "dcrl.algorithms"  # the entry-point group in which a package offers its algorithms

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


ALGORITHMS: dict[str, AlgorithmEntry] = {
    name: AlgorithmEntry(name=name, summary=known.summary, default=BUILDERS[name][0], build=BUILDERS[name][1])
    for name, known in CATALOGUE.items()
}


def names() -> tuple[str, ...]:
    """The names of all known algorithms."""
    return (*ALGORITHMS, *(name for name in offered(GROUP) if name not in ALGORITHMS))


def get(name: str) -> AlgorithmEntry:
    """An algorithm by its name, by `module:object` or by `path/to/file.py:object`."""
    if not isinstance(name, str):
        raise ValueError(f"an algorithm is a name, or your own as file.py:object, got {name!r}")
    return _own(load(name, "algorithm", (AlgorithmEntry,)), name) if is_reference(name) else installed(name)


def installed(name: str) -> AlgorithmEntry:
    """An algorithm by its name; no code that a file names is run."""
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    if name in offered(GROUP):
        return load_offered(GROUP, "algorithm", name, _own)
    raise unknown("algorithm", name, names())


def _own(found: object, name: str) -> AlgorithmEntry:
    if not isinstance(found, AlgorithmEntry):
        raise ValueError(f"{name} must be a dcrl.AlgorithmEntry, got an object of type {type(found).__name__}")
    if found.name in ALGORITHMS:
        raise ValueError(f"{name} has the name of the built-in algorithm {found.name}; give it another name")
    return found
