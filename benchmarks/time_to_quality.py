r"""Time to quality: how soon a configuration reaches what the paper's settings reach, stored and re-evaluated.

    python benchmarks/time_to_quality.py --task walker2d_uni --seeds 0 1 2 --output time_to_quality
    python benchmarks/time_to_quality.py --configuration "few steps: --critic-steps 300" --seeds 0

For each seed, the runs of all configurations follow one another on the same cores, first the paper's `dcrl_me`: its
final QD score is the threshold of that seed. Every other run ends above the threshold, or at `--patience` times
the paper's time. `me`, `pga_me`, the paper's `dcrl_me` and the preset `fast` are always in the table. Archives are
re-evaluated at every mark, and at the threshold or the end (`timed_run.py`, which does each run).

A run's result is one JSON file in the output directory. The same command again does what is missing, and prints the
table of what is there; `runs.csv` has one line per run. `--only paper fast me` leaves the others for another time.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from dcrl import files

PAPER = "paper"
ALWAYS = {
    PAPER: "--algorithm dcrl_me",
    "fast": "--preset fast",
    "pga_me": "--algorithm pga_me",
    "me": "--algorithm me",
}
NO_LIMIT = 10**9  # evaluations; seconds end the run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="walker2d_uni")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--evaluations", type=int, default=7680, help="the budget of the paper's settings")
    parser.add_argument("--marks", type=float, nargs="*", default=[60, 120, 240], help="seconds to compare at")
    parser.add_argument("--repeats", type=int, default=16, help="fresh episodes per elite; 0 for no re-evaluation")
    parser.add_argument("--patience", type=float, default=4, help="a run is given up at so many times the paper's time")
    parser.add_argument(
        "--configuration",
        action="append",
        default=[],
        metavar="NAME: FLAGS",
        help="another one, as flags of dcrl train",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run only these of the configurations now")
    parser.add_argument("--output", type=Path, default=Path("time_to_quality"))
    flags = parser.parse_args()
    configurations = ALWAYS | dict(named(text) for text in flags.configuration)
    chosen = configurations if flags.only is None else {name: configurations.get(name, "") for name in flags.only}
    if not chosen.keys() <= configurations.keys():
        sys.exit(f"--only takes names out of {', '.join(configurations)}, got {' '.join(flags.only)}")
    for seed in flags.seeds:
        for name, own in chosen.items():
            path = result_path(flags, name, seed)
            if path.exists():
                if json.loads(path.read_text())["flags"][1 : 1 + len(shlex.split(own))] != shlex.split(own):
                    sys.exit(f"{path} is of other flags than {own!r}; give it another name or another --output")
                continue
            run(flags, name, own, seed, path)
    paths = {name: [result_path(flags, name, seed) for seed in flags.seeds] for name in configurations}
    results = {
        name: [json.loads(path.read_text()) for path in found]
        for name, found in paths.items()
        if all(path.exists() for path in found)
    }
    write_csv(flags.output / flags.task / "runs.csv", flags, results)
    print_table(flags, results)


def named(text: str) -> tuple[str, str]:
    name, colon, own = text.partition(":")
    if not colon or not re.fullmatch(r"[\w. +-]+", name) or name.strip() in ALWAYS:
        sys.exit(f"a configuration is 'NAME: FLAGS' with a name other than {', '.join(ALWAYS)}, got {text!r}")
    return name.strip(), own.strip()


def result_path(flags: argparse.Namespace, name: str, seed: int) -> Path:
    return Path(flags.output) / flags.task / f"{name.replace(' ', '_')}-{seed}.json"


def run(flags: argparse.Namespace, name: str, own: str, seed: int, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, str(Path(__file__).with_name("timed_run.py")), str(path)]
    line += ["--repeats", str(flags.repeats), "--marks", *map(str, flags.marks)]
    evaluations = flags.evaluations
    if name != PAPER:
        threshold = result_path(flags, PAPER, seed)
        if not threshold.exists():
            sys.exit(f"{threshold} is missing: the final QD score of {PAPER!r} is the threshold; add it to --only")
        paper = json.loads(threshold.read_text())["rows"][-1]
        line += ["--threshold", str(paper["qd_score"]), "--seconds", str(flags.patience * paper["wall_seconds"])]
        evaluations = NO_LIMIT
    line += ["--", flags.task, *shlex.split(own), "--seed", str(seed), "--evaluations", str(evaluations)]
    print(f"\n{name}, seed {seed}: {shlex.join(line[1:])}", flush=True)
    subprocess.run(line, check=True)


def score_at(result: dict[str, Any], seconds: float) -> float:
    """The QD score after so many seconds, NaN if the run had ended."""
    rows = result["rows"]
    if rows[-1]["wall_seconds"] < seconds:
        return math.nan
    return float(max((row["qd_score"] for row in rows if row["wall_seconds"] <= seconds), default=0.0))


def corrected(result: dict[str, Any], when: str) -> float:
    return next((one["corrected_qd_score"] for one in result["archives"] if one["when"] == when), math.nan)


def corrected_by(result: dict[str, Any], score: float) -> float:
    """The seconds after which the first re-evaluated archive had this corrected QD score; infinite if none had it."""
    found = (one["wall_seconds"] for one in result["archives"] if one["corrected_qd_score"] >= score)
    return min(found, default=math.inf)


def summary(flags: argparse.Namespace, result: dict[str, Any]) -> dict[str, float]:
    """One run as numbers, at the threshold or the end; infinite seconds if it never reached the threshold."""
    reached = result["seconds_to_threshold"]
    paper = result["threshold"] is None
    last = next((row for row in result["rows"] if row["wall_seconds"] == reached), result["rows"][-1])
    row = {
        "seconds": last["wall_seconds"] if paper or reached is not None else math.inf,
        "evaluations": last["evaluations"],
        "corrected": corrected(result, "at the end" if paper else "at the threshold"),
        "processor": last["processor_seconds"] / last["wall_seconds"] / result["machine"]["cores"],
    }
    for mark in flags.marks:
        row[f"score_{mark:g}"] = score_at(result, mark)
        row[f"corrected_{mark:g}"] = corrected(result, f"at {mark:g} s")
    return row


def write_csv(path: Path, flags: argparse.Namespace, results: dict[str, list[dict[str, Any]]]) -> None:
    rows = [
        {"configuration": name, "seed": result["configuration"]["seed"]} | summary(flags, result)
        for name, found in results.items()
        for result in found
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files.write_text(path, text.getvalue())


def print_table(flags: argparse.Namespace, results: dict[str, list[dict[str, Any]]]) -> None:
    """Medians over seeds, as a Markdown table."""
    marks = [f"{mark:g}" for mark in flags.marks]
    heads = ["configuration", "seconds to the threshold", "x paper", "reached", "corrected there"]
    heads += ["seconds to the paper's corrected score, at most", "processor used"]
    print(f"\n{flags.task}, seeds {' '.join(map(str, flags.seeds))}; QD score at a mark: stored (corrected)\n")
    print(f"| {' | '.join([*heads, *(f'{mark} s' for mark in marks)])} |")
    print(f"|{'---|' * (len(heads) + len(marks))}")
    paper = [summary(flags, result) for result in results[PAPER]]
    for name, found in results.items():
        rows = [summary(flags, result) for result in found]
        goals = [base["corrected"] for base in paper]
        until = statistics.median(corrected_by(one, goal) for one, goal in zip(found, goals, strict=True))
        ratios = [row["seconds"] / base["seconds"] for row, base in zip(rows, paper, strict=True)]
        cells = [
            name,
            "never" if math.isinf(median(rows, "seconds")) else f"{median(rows, 'seconds'):.0f}",
            "" if math.isinf(statistics.median(ratios)) else f"{statistics.median(ratios):.2f}",
            f"{sum(math.isfinite(row['seconds']) for row in rows)} of {len(rows)}",
            number(median(rows, "corrected")),
            "not seen" if math.isinf(until) else f"{until:.0f}",
            f"{median(rows, 'processor'):.0%}",
            *(f"{number(median(rows, f'score_{m}'))} ({number(median(rows, f'corrected_{m}'))})" for m in marks),
        ]
        print(f"| {' | '.join(cells)} |")


def median(rows: list[dict[str, float]], name: str) -> float:
    """Over the seeds that have a number."""
    known = [row[name] for row in rows if not math.isnan(row[name])]
    return statistics.median(known) if known else math.nan


def number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.0f}"


if __name__ == "__main__":
    main()
