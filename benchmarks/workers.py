"""How fast workers play episodes, against the simulator of this process, in turns.

    python benchmarks/workers.py
    python benchmarks/workers.py --ray --tasks walker2d_uni humanoid_uni

Robots: two single-core workers against the simulator with two threads; 1 means that workers cost nothing. The slow
environment, which sleeps 5 ms per step: two workers against none; 2 is the best there is.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import jax
import numpy as np

from dcrl import devices, keys, simulators
from dcrl.archive.centroids import cache_directory
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers
from dcrl.simulators.rollouts import start_keys
from dcrl.simulators.simulator import Simulator
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks import registry
from dcrl.types import Evaluation

SLOW = f"{Path(__file__).with_name('slow_environment.py')}:task"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="*", default=["walker2d_uni", "humanoid_uni"])
    parser.add_argument("--policies", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ray", action="store_true", help="Ray workers in addition to local ones")
    flags = parser.parse_args()
    devices.prepare(cache_directory())
    kinds = ["local:2", *(["ray:2"] if flags.ray else [])]
    for task in flags.tasks:
        compare(task, flags.policies, flags.repeats, 2, ["local:0", *kinds])
    compare(SLOW, min(flags.policies, 64), flags.repeats, 1, ["local:0", *kinds])
    return 0


def compare(reference: str, policies: int, repeats: int, threads: int, kinds: list[str]) -> None:
    """Print the rate of each kind, and its ratio to the first; the first round warms up and is not counted."""
    task = registry.get(reference)
    layers = policy_layers(task.observation_size, task.action_size)
    genotypes = np.asarray(jax.vmap(partial(init, layers))(keys.each(keys.root(1), policies)))
    starts, seconds, steps, outcomes = start_keys(range(policies), policies), {kind: [] for kind in kinds}, 0, {}
    with ExitStack() as stack:
        opened: dict[str, Simulator] = {}
        for kind in kinds:
            own = threads if kind == "local:0" else 1
            workers = WorkersConfig(workers=kind).parsed(gymnasium=True)
            opened[kind] = stack.enter_context(simulators.make(task, None, own, workers, reference))
        for repeat in range(repeats + 1):
            for kind in kinds:
                begin = time.perf_counter()
                played = opened[kind].play(genotypes, starts, layers, record=True)
                if repeat:
                    seconds[kind].append(time.perf_counter() - begin)
                steps, outcomes[kind] = int(played.steps.sum()), digest(played)
    assert len(set(outcomes.values())) == 1, "the workers played other episodes"
    for kind in kinds:
        ratios = [first / own for first, own in zip(seconds[kinds[0]], seconds[kind], strict=True)]
        rate = steps / statistics.median(seconds[kind])
        print(f"{task.name:13} {kind:8} {rate:9,.0f} steps/s  ratio {statistics.median(ratios):.2f}", flush=True)


def digest(played: Evaluation) -> bytes:
    return played.fitness.tobytes() + played.descriptor.tobytes() + played.steps.tobytes()


if __name__ == "__main__":
    sys.exit(main())
