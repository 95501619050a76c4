"""Nodes with other versions than the machine that gives them work."""

from __future__ import annotations

from dcrl.cluster.agreement import mismatch
from dcrl.version import versions


def test_other_versions_are_one_sentence() -> None:
    other = versions() | {"jax": "0.0.1"}
    assert mismatch(versions()) is None
    assert f"has jax {versions()['jax']} instead of 0.0.1; install the same versions on all nodes" in mismatch(other)
