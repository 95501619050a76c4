"""Whether a node of a cluster has the packages of the machine that gives it work: results may depend on them."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from dcrl.version import versions


def mismatch(expected: Mapping[str, str | None]) -> str | None:
    """How the packages of this node differ from those of the machine that started the work."""
    here = versions()
    odd = [f"{name} {here[name]} instead of {expected[name]}" for name in here if here[name] != expected.get(name)]
    if not odd:
        return None
    return f"node {platform.node()} has {', '.join(odd)}; install the same versions on all nodes"
