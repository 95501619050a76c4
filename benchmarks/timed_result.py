"""A run of `dcrl train` in the format of `timed_run.py`, so that the two can be compared over wall time.

    python benchmarks/timed_result.py runs/ant_omni/me/seed-0 me-0.json

If `dcrl evaluate` was run on it, with its re-evaluated archive. Wall time includes compilation and checkpoints; the CPU
time of a run is not recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from collect_results import portable
from dcrl import files
from dcrl.runs.metrics import read_metrics

COUNTS = ("generation", "evaluations", "environment_steps")
VALUES = ("qd_score", "coverage", "max_fitness", "wall_seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("output", type=Path, help="where the result goes, a JSON file")
    options = parser.parse_args()
    files.write_json(options.output, result(options.run))


def result(run: Path) -> dict[str, Any]:
    metrics, machine = read_metrics(run / "metrics.csv"), portable(run)
    columns = {name: metrics[name].astype(int).tolist() for name in COUNTS}
    columns |= {name: metrics[name].tolist() for name in VALUES}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "flags": machine["command"][2:],
        "machine": machine,
        "configuration": json.loads((run / "config.json").read_text()),
        "threshold": None,
        "rows": rows,
        "archives": re_evaluated(run, rows[-1]),
    }


def re_evaluated(run: Path, last: dict[str, Any]) -> list[dict[str, Any]]:
    """The elites' totals of `dcrl evaluate`, if it was run on the final archive."""
    path = run / "reproducibility" / "totals.json"
    if not path.exists():
        return []
    totals = json.loads(path.read_text())
    if totals["evaluations"] != last["evaluations"]:
        sys.exit(
            f"{path} is of the archive after {totals['evaluations']:,} evaluations, but the run has "
            f"{last['evaluations']:,}; run dcrl evaluate again"
        )
    about = {name: last[name] for name in ("generation", "wall_seconds", "qd_score")}
    return [{"when": "at the end"} | about | totals["elites"]]


if __name__ == "__main__":
    main()
