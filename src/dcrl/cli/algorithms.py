"""`dcrl algorithms`: the algorithms and what each is."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dcrl.algorithms import registry
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.cli import output


def run(*, json: bool = False) -> int:
    """List the algorithms of `dcrl train TASK --algorithm NAME`; NAME may also be your own, as file.py:object.

    Args:
        json: print a list of JSON objects
    """
    entries = list(_known())
    if json:
        output.print_json([{"name": entry.name, "summary": entry.summary} for entry in entries])
        return 0
    output.print_table(("algorithm", "summary"), [(entry.name, entry.summary) for entry in entries])
    output.print_lines(["`dcrl train TASK --algorithm NAME --help` shows an algorithm's hyperparameters."])
    return 0


def _known() -> Iterator[AlgorithmEntry]:
    """Every algorithm; those of installed packages that cannot be loaded are named on stderr and left out."""
    for name in registry.names():
        try:
            yield registry.installed(name)
        except ValueError as error:
            print(f"dcrl: {error}", file=sys.stderr)
