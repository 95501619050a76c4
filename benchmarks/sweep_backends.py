"""The throughput of a sweep: one run per core against one run at a time on all cores, and Ray against local.

    python benchmarks/sweep_backends.py                                       # the paper's settings, on an idle machine
    python benchmarks/sweep_backends.py --task point_omni --evaluations 1024 --repeats 1

The ways take turns, so that a change of the machine's speed meets all of them. Each sweep trains as many runs as there
are cores, from the start. Two rates are printed, in evaluations per second of the whole machine: of the runs from their
second generation on, by their metrics, which is what a long sweep has; and of the whole command, in which the start of
Python, of Ray and of the compiler weigh more the smaller the budget is.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from dcrl.devices import cores
from dcrl.runs.manifest import processor

REFERENCE = "local, one run per core"
WAYS = {
    REFERENCE: (),
    "local, one run on all cores": ("--at-once", "1"),
    "ray, one run per core": ("--backend", "ray"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="walker2d_uni")
    parser.add_argument("--algorithm", default="dcrl_me")
    parser.add_argument("--evaluations", type=int, default=1280)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    count = cores()
    print(
        f"{processor()}, {count} cores; {count} runs of {asked.algorithm} on {asked.task}, the paper's settings, "
        f"{asked.evaluations:,} evaluations each",
        flush=True,
    )
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    whole: dict[str, list[float]] = {way: [] for way in WAYS}
    for repeat in range(asked.repeats):
        for way, flags in WAYS.items():
            output = Path(tempfile.mkdtemp())
            try:
                seconds = sweep(asked, count, output, flags)
                rates[way].append(rate(output, at_once=1 if "--at-once" in flags else count))
            finally:
                shutil.rmtree(output)
            whole[way].append(count * asked.evaluations / seconds)
            print(f"{repeat + 1}: {way:<30} {seconds:8.1f} s {rates[way][-1]:8.1f} evaluations/s", flush=True)
    print(f"\n{'medians, evaluations/s':<30} {'of the runs':>22} {'of the command':>22}")
    for way in WAYS:
        print(f"{way:<30} {_with_ratio(rates, way)} {_with_ratio(whole, way)}")


def sweep(asked: argparse.Namespace, count: int, output: Path, flags: tuple[str, ...]) -> float:
    """Run one sweep; its seconds."""
    begin = time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, "-P", "-m", "dcrl", "sweep", asked.task, "--algorithms", asked.algorithm),
            *("--seeds", f"0-{count - 1}", "--evaluations", str(asked.evaluations), "--output", str(output)),
            *flags,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin


def rate(output: Path, at_once: int) -> float:
    """Evaluations per second of the runs together, from the end of generation 1, when everything is compiled."""
    evaluations = seconds = 0.0
    for path in output.glob("*/*/seed-*/metrics.csv"):
        with open(path, newline="") as file:
            first, *_, last = list(csv.DictReader(file))[1:]
        evaluations += float(last["evaluations"]) - float(first["evaluations"])
        seconds += float(last["wall_seconds"]) - float(first["wall_seconds"])
    return at_once * evaluations / seconds


def _with_ratio(rates: dict[str, list[float]], way: str) -> str:
    ratio = median(own / base for own, base in zip(rates[way], rates[REFERENCE], strict=True))
    return f"{median(rates[way]):12.1f} {ratio:5.2f} x "


if __name__ == "__main__":
    main()
