"""What the commands that write a repertoire print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from dcrl.cli import output
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.summary import summarise
from dcrl.repertoires.words import plural


def report(path: Path, repertoire: Repertoire, *, json: bool) -> int:
    """Print one line, or the JSON object of `dcrl show`; returns the exit code."""
    summary = summarise(repertoire)
    if json:
        output.print_json(asdict(summary) | {"output": str(path)})
    else:
        elites, cells = plural(summary.elites, "elite"), plural(summary.cells, "cell")
        score = f"QD score {summary.qd_score:,.1f}, coverage {summary.coverage:.1%}"
        print(f"{path}: {elites} in {cells}, {score}")
    return 0
