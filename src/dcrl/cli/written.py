"""What verbs that write a repertoire say in the end."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from dcrl.cli import output
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.summary import summarise


def report(path: Path, repertoire: Repertoire, *, json: bool) -> int:
    """One line, or a JSON object with all of `dcrl show`; the exit code."""
    summary = summarise(repertoire)
    if json:
        output.print_json(asdict(summary) | {"output": str(path)})
    else:
        print(
            f"{path}: {summary.elites:,} elites in {summary.cells:,} cells, QD score {summary.qd_score:,.1f}, "
            f"coverage {summary.coverage:.1%}"
        )
    return 0
