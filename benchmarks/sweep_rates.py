"""The rates behind `dcrl sweep`'s preview and the cost model of docs/scale.md, in processor seconds of one core.

For each task: seconds per control step of the simulator. For each robot and algorithm: seconds per generation of
everything but the simulator, at the paper's settings. Processor time is measured, not wall time, so other work on the
machine disturbs it little. Training takes a tenth of the paper's steps here, and its measured time counts ten times:
it is proportional to the steps. Tasks with almost the same sizes of observations and actions share these (LIKE).

    taskset -c 0 python benchmarks/sweep_rates.py --write        # all of the paper's; writes src/dcrl/sweeps/rates.json
    taskset -c 0 python benchmarks/sweep_rates.py --tasks walker2d_uni --algorithms dcrl_me --share 1
    python benchmarks/sweep_rates.py --model                     # the paper's study on 1, 16 and 256 nodes of 64 cores
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dcrl import devices
from dcrl.algorithms.compose import TRAIN, Composition
from dcrl.archive.centroids import cache_directory
from dcrl.runs.config import default, open_algorithm
from dcrl.runs.manifest import processor
from dcrl.sweeps.cost import computed_seconds
from dcrl.sweeps.study import Study, read
from dcrl.variation.policy_gradient import PolicyGradient

ROOT = Path(__file__).parents[1]
RATES = ROOT / "src" / "dcrl" / "sweeps" / "rates.json"
LIKE = {
    "ant_omni": "ant_uni",
    "anttrap_omni": "ant_uni",
    "halfcheetah_uni": "walker2d_uni",
    "humanoid_omni": "humanoid_uni",
}
STEPS = ("critic_steps", "policy_steps", "diversity_critic_steps")  # what training is proportional to


class Timed:
    """A simulator that counts the processor seconds and the control steps of its episodes."""

    def __init__(self, simulator: object) -> None:
        self._simulator, self.seconds, self.steps = simulator, 0.0, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._simulator, name)

    overlap = False  # one stage after another, so that each is timed

    def play(self, *arguments: object, **options: object) -> object:
        begin = time.process_time()
        played = self._simulator.play(*arguments, **options)  # type: ignore[attr-defined]
        self.seconds += time.process_time() - begin
        self.steps += int(np.sum(played.steps))
        return played


def measure(task: str, name: str, share: float) -> tuple[float, float]:
    """Processor seconds per control step, and per generation of everything else, at the paper's settings."""
    config = default(task, name)
    small = replace(config, hyperparameters=shortened(config.hyperparameters, share))
    with open_algorithm(small, threads=1) as algorithm:
        timed = Timed(algorithm.setting.simulator)
        object.__setattr__(algorithm.setting, "simulator", timed)
        state, _ = algorithm.start(0)
        state, _ = algorithm.advance(state, 0)  # compiles
        timed.seconds, timed.steps = 0.0, 0
        marks = [("", time.process_time())]
        _, _ = algorithm.advance(state, 0, lambda stage: marks.append((stage, time.process_time())))
        marks.append(("", time.process_time()))
        operators = algorithm.operators if isinstance(algorithm, Composition) else ()
    steeper = {TRAIN, *(each.name for each in operators if isinstance(each, PolicyGradient))}
    spent = [(stage, end - begin) for (stage, begin), (_, end) in pairwise(marks)]
    trained = sum(seconds for stage, seconds in spent if stage in steeper)
    others = sum(seconds for stage, seconds in spent if stage not in steeper) - timed.seconds
    return timed.seconds / timed.steps, trained / share + others


def shortened(config: Any, share: float) -> Any:
    """A configuration with this share of its training steps."""
    changes: dict[str, Any] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            changes[field.name] = shortened(value, share)
        elif field.name in STEPS:
            changes[field.name] = round(value * share)
    return replace(config, **changes)


def model(study: Study) -> None:
    """How long the study takes, one run per core: the work divided by the cores, at least its longest run."""
    runs = {}
    for task in study.tasks:
        for name in study.algorithms or ():
            config = replace(default(task, name), evaluations=study.evaluations(task, name))
            rate = computed_seconds(config)
            if rate is None:
                raise SystemExit(f"{task} {name} has not been measured; run this script with --write first")
            runs[task, name] = rate * config.evaluations / 3600
    seeds = len(study.seeds or ())
    total, longest = seeds * sum(runs.values()), max(runs, key=lambda kind: runs[kind])
    print(f"{seeds * len(runs):,} runs, {total:,.0f} core hours")
    print(f"the longest run is {' '.join(longest)}: {runs[longest]:.1f} h")
    for nodes in (1, 16, 256):
        cores = 64 * nodes
        hours = max(total / min(cores, seeds * len(runs)), runs[longest])
        limit = "its longest run" if hours == runs[longest] else "the number of cores"
        print(f"{nodes:>4} nodes, {cores:>6,} cores: {hours:>8,.1f} h = {hours / 24:>6,.1f} days; limited by {limit}")


def main() -> None:
    study = read(Path("studies/paper.toml"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=study.tasks)
    parser.add_argument("--algorithms", nargs="+", default=study.algorithms)
    parser.add_argument("--share", type=float, default=0.1, help="of the paper's training steps that are measured")
    parser.add_argument("--write", action="store_true", help="write the rates that the preview uses")
    parser.add_argument("--model", action="store_true", help="measure nothing; how long the study takes")
    asked = parser.parse_args()
    if asked.model:
        model(study)
        return
    devices.prepare(cache_directory())
    found = json.loads(RATES.read_text())
    found |= {"measured_on": f"{processor()}, {devices.cores()} core(s)", "like": LIKE}
    print(f"{found['measured_on']}; processor seconds, {asked.share:.0%} of the training steps")
    print(f"{'task':<18}{'algorithm':<16}{'µs per step':>12}{'s per generation':>18}")
    for task in asked.tasks:
        steps = []
        for name in ("me",) if task in LIKE else asked.algorithms:
            step, rest = measure(task, name, asked.share)
            steps.append(step)
            if task not in LIKE:
                found["generation_seconds"].setdefault(task, {})[name] = round(rest, 3)
            print(f"{task:<18}{name:<16}{1e6 * step:>12.1f}" + ("" if task in LIKE else f"{rest:>18.2f}"), flush=True)
        found["step_seconds"][task] = round(float(np.median(steps)), 8)
        if asked.write:
            RATES.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
