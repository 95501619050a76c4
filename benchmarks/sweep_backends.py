"""The throughput of a sweep: one run per core against one run at a time on all cores, and Ray against local.

    python benchmarks/sweep_backends.py                                       # the paper's settings, on an idle machine
    python benchmarks/sweep_backends.py --task point_omni --evaluations 1024 --repeats 1

The ways take turns, so that a change of the machine's speed meets all of them. Each sweep trains as many runs as there
are cores, from the start. Two rates are printed, in evaluations per second of the whole machine: of the runs from their
second generation on, by their metrics, which is what a long sweep has; and of the whole command, in which the start of
Python, of Ray and of the compiler weigh more the smaller the budget is. The first is also given as a share of the
machine's limit: the runs' arithmetic at the speed of a large matrix product, plus their control steps as bare physics.
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

import numpy as np

import dcrl
from dcrl import devices
from dcrl.archive.centroids import cache_directory
from dcrl.bench.generations import PRODUCT_SIZE, flops, product_gflops
from dcrl.bench.rollouts import bare_physics
from dcrl.devices import cores
from dcrl.runs import config as configs
from dcrl.runs.manifest import processor
from dcrl.simulators.mujoco import start_states
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks import registry
from dcrl.tasks.engine import Batch

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
    devices.prepare(cache_directory())
    count = cores()
    print(
        f"{processor()}, {count} cores; {count} runs of {asked.algorithm} on {asked.task}, the paper's settings, "
        f"{asked.evaluations:,} evaluations each",
        flush=True,
    )
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    whole: dict[str, list[float]] = {way: [] for way in WAYS}
    limits = []
    for repeat in range(asked.repeats):
        for way, flags in WAYS.items():
            output = Path(tempfile.mkdtemp())
            try:
                seconds = sweep(asked, count, output, flags)
                rates[way].append(rate(output, at_once=1 if "--at-once" in flags else count))
                if way == REFERENCE:
                    limits.append(limit(output))
            finally:
                shutil.rmtree(output)
            whole[way].append(count * asked.evaluations / seconds)
            print(f"{repeat + 1}: {way:<30} {seconds:8.1f} s {rates[way][-1]:8.1f} evaluations/s", flush=True)
    print(f"limits: {', '.join(f'{one:.1f}' for one in limits)} evaluations/s")
    print(f"\n{'medians, evaluations/s':<30} {'of the runs':>22} {'of the limit':>14} {'of the command':>22}")
    for way in WAYS:
        share = median(own / most for own, most in zip(rates[way], limits, strict=True))
        print(f"{way:<30} {_with_ratio(rates, way)} {share:12.0%} {_with_ratio(whole, way)}")


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
    evaluations, seconds = (
        sum(grown(run, column) for run in runs(output)) for column in ("evaluations", "wall_seconds")
    )
    return at_once * evaluations / seconds


def limit(output: Path) -> float:
    """Evaluations per second of a program that does nothing but these runs' matrix products and physics, on all cores.

    A control step costs what it does for the elites of the first run, which stay up longer than random policies.
    """
    first, *_ = runs(output)
    repertoire = dcrl.load(first)
    genotypes = repertoire.genotype[repertoire.occupied][:256]
    starts = start_keys(range(len(genotypes)), len(genotypes))
    with configs.open_algorithm(configs.read(first)) as algorithm:
        setting, work, evaluations = algorithm.setting, sum(flops(algorithm).values()), algorithm.generation_evaluations
        played = setting.simulator.play(genotypes, starts, setting.layers, record=True)
    task = registry.get(configs.read(first).task)
    batch = Batch(task.model, len(genotypes), cores(), persistent=True)
    seconds = [bare_physics(task, batch, played.transitions, *start_states(task, starts)) for _ in range(3)]
    per_step = median(seconds) / np.sum(played.steps)
    steps = sum(grown(run, "environment_steps") for run in runs(output))
    steps /= sum(grown(run, "evaluations") for run in runs(output))
    return 1 / (work / evaluations / 1e9 / product_gflops(PRODUCT_SIZE) + steps * per_step)


def runs(output: Path) -> list[Path]:
    return sorted(path.parent for path in output.glob("*/*/seed-*/metrics.csv"))


def grown(run: Path, column: str) -> float:
    """By how much a column of a run's metrics grows from the end of generation 1 on."""
    with open(run / "metrics.csv", newline="") as file:
        first, *_, last = list(csv.DictReader(file))[1:]
    return float(last[column]) - float(first[column])


def _with_ratio(rates: dict[str, list[float]], way: str) -> str:
    ratio = median(own / base for own, base in zip(rates[way], rates[REFERENCE], strict=True))
    return f"{median(rates[way]):12.1f} {ratio:5.2f} x "


if __name__ == "__main__":
    main()
