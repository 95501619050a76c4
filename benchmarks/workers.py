"""How fast workers play the episodes of a generation, against the simulator of this process, in turns.

    python benchmarks/workers.py                                       # local workers
    python benchmarks/workers.py --ray                                 # and Ray: a cluster of two single-core nodes
    python benchmarks/workers.py --ray --tasks --policies 8 --repeats 1    # the slow environment alone, quickly

Robots: workers of one core against the simulator with two threads; with two workers, 1 means that they cost nothing.
The slow environment, which sleeps 5 ms per step: workers against none; with two, 2 is the best there is. All play the
same policies, recorded as for training, and must return the same bytes. The Ray cluster is that of the tests:
each node is a process of this machine with one core; "ray:1" plays on one of them, "ray:2" on both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from dcrl import devices, simulators
from dcrl.algorithms.me import MEConfig
from dcrl.archive.centroids import cache_directory
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.runs import config as configs
from dcrl.runs import presets
from dcrl.runs.manifest import processor
from dcrl.simulators.rollouts import start_keys
from dcrl.simulators.simulator import Simulator
from dcrl.simulators.worker_pool import WorkerPool
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks import registry
from dcrl.tasks.registry import AnyTask
from dcrl.types import Evaluation, Floats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.cluster import VARIABLES, RayCluster

SLOW = f"{Path(__file__).with_name('slow_environment.py')}:task"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tasks",
        nargs="*",
        default=["walker2d_uni", "humanoid_uni"],
        help="robots, in addition to the slow environment",
    )
    parser.add_argument("--policies", type=int, default=256, help="of a generation; of the slow environment 64 at most")
    parser.add_argument("--generations", type=int, default=20, help="of MAP-Elites, whose offspring the policies are")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--ray", action="store_true", help="Ray workers in addition to local ones")
    flags = parser.parse_args()
    devices.prepare(cache_directory())
    print(f"{processor()}, {devices.cores()} cores; medians of {flags.repeats} repeats, in turns", flush=True)
    with ExitStack() as stack:
        address = _cluster(stack) if flags.ray else None
        for task in flags.tasks:
            compare(task, offspring(task, flags.policies, flags.generations), flags.repeats, 2, address)
        compare(SLOW, random_policies(SLOW, min(flags.policies, 64)), flags.repeats, 1, address)
    return 0


def offspring(reference: str, policies: int, generations: int) -> Floats:
    """The offspring of MAP-Elites after so many generations: policies that stay up longer than random ones."""
    config = presets.run_config(
        reference,
        "me",
        None,
        None,
        seed=1,
        hidden=HIDDEN,
        simulator=None,
        hyperparameters=MEConfig(ga_offspring=policies),
    )
    with configs.open_algorithm(config) as algorithm:
        state, _ = algorithm.start(config.seed)
        for _ in range(generations):
            state, _ = algorithm.advance(state, config.seed)
        return algorithm.ask(state, config.seed).genotype


def random_policies(reference: str, policies: int) -> Floats:
    task = registry.get(reference)
    return initial_policies(policy_layers(task.observation_size, task.action_size), 1, policies)


def compare(reference: str, genotypes: Floats, repeats: int, threads: int, address: str | None) -> None:
    """Print the rate of each kind, and its ratio to the first; the first round warms up and is not counted."""
    task, policies = registry.get(reference), len(genotypes)
    layers = policy_layers(task.observation_size, task.action_size)
    starts, steps, outcomes = start_keys(range(policies), policies), 0, {}
    with ExitStack() as stack:
        kinds = _opened(stack, task, reference, threads, address)
        seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
        for repeat in range(repeats + 1):
            for kind, simulator in kinds.items():
                begin = time.perf_counter()
                played = simulator.play(genotypes, starts, layers, record=True)
                if repeat:
                    seconds[kind].append(time.perf_counter() - begin)
                steps, outcomes[kind] = int(played.steps.sum()), digest(played)
    assert len(set(outcomes.values())) == 1, "the workers played other episodes"
    first = next(iter(kinds))
    print(f"{task.name}: {policies} episodes, {steps:,} steps; {first} with {threads} thread(s)", flush=True)
    for kind, own in seconds.items():
        ratio = statistics.median(base / each for base, each in zip(seconds[first], own, strict=True))
        print(f"  {kind:8} {steps / statistics.median(own):9,.0f} steps/s  {ratio:.2f} of {first}", flush=True)


def _opened(stack: ExitStack, task: AnyTask, reference: str, threads: int, address: str | None) -> dict[str, Simulator]:
    """The simulator of this process, and those whose episodes workers play."""

    def make(own: int, workers: str, cluster: str | None = None) -> Simulator:
        where = WorkersConfig(workers=workers, address=cluster).parsed(gymnasium=True)
        return stack.enter_context(simulators.make(task, None, own, where, reference))

    found = {"local:0": make(threads, "local:0"), "local:2": make(1, "local:2")}
    if address is not None:
        both = make(1, "ray:2", address)
        assert isinstance(both, WorkerPool)
        found |= {"ray:1": WorkerPool(task, both.workers[:1], ExitStack()), "ray:2": both}  # one connection for both
    return found


def _cluster(stack: ExitStack) -> str:
    """The address of a cluster of two single-core nodes, besides the driver's, which has none."""
    os.environ.update(VARIABLES)
    cluster = RayCluster(nodes=2, cpus=1)
    stack.callback(cluster.close)
    return cluster.address


def digest(played: Evaluation) -> bytes:
    return played.fitness.tobytes() + played.descriptor.tobytes() + played.steps.tobytes()


if __name__ == "__main__":
    sys.exit(main())
