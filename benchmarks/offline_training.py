"""What other settings of the learner would bring: train it on a run's replay buffer, and inject its actor.

    python benchmarks/offline_training.py runs/ant_omni/dcrl_me/seed-0 offline.csv -- "" "--batch-size 256"

Networks, transitions and archive are those of the run's newest checkpoint. Each argument after `--` is one variant:
flags of `dcrl train` that change the learner's settings. After every 24,000 updates the actor, and its target network,
are conditioned on the same 128 uniformly drawn descriptors and simulated. `gain` is by how much the archive's QD score
would rise if they were added; the archive does not change. This takes minutes where a run takes hours, but new
transitions are missing, so try what helps here in a run.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from dcrl import keys
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.asked import Asked
from dcrl.algorithms.compose import Composition
from dcrl.algorithms.state import State
from dcrl.archive import archive as archives
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.training import train
from dcrl.runs import config as configs
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.checkpoint_files import description
from dcrl.runs.config import RunConfig
from dcrl.runs.manifest import manifest
from dcrl.variation.actor_injection import ActorInjection, ActorInjectionConfig
from dcrl.variation.operator import Sources

UPDATES = 8_000  # of the critics per round
NETWORKS = ("online", "target")
COLUMNS = ("commit", "flags", "updates", "seconds", "injected", "fitness", "distance", "similarity", "gain", "reached")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("output", type=Path, help="where the rows are added, a CSV file")
    parser.add_argument("--rounds", type=int, default=9, help=f"of {UPDATES:,} critic updates each")
    parser.add_argument("--threads", type=int, help="threads of the simulator; all cores by default")
    parser.add_argument("variants", nargs="+")
    options = parser.parse_args()
    config = configs.read(options.run)
    for flags in options.variants:
        changed = tyro.cli(
            algorithms.get(config.algorithm).config,
            default=config.hyperparameters,
            args=shlex.split(flags),
            config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
        )
        with configs.open_algorithm(dataclasses.replace(config, hyperparameters=changed), options.threads) as algorithm:
            state = restored(options.run, config, algorithm)
            for row in trained(algorithm, state, options.rounds):
                print(flags or "the run's settings", *(f"{key} {value}" for key, value in row.items()), flush=True)
                append(options.output, {"commit": manifest({})["commit"], "flags": flags} | row)


def restored(run: Path, config: RunConfig, algorithm: Composition) -> State:
    """The newest checkpoint, whose settings may differ from those of `algorithm`."""
    newest = max((run / "checkpoints").glob("generation-*.json"), default=None)
    if newest is None:
        sys.exit(f"{run} has no checkpoint; expected the directory of a run of `dcrl train`")
    about = description(newest)["about"]
    about |= {"configuration": configs.completed(about["configuration"])}
    state = Checkpoints(newest.parent).load(algorithm.empty_state(config.seed), about, print)
    assert state is not None
    return state


def trained(algorithm: Composition, state: State, rounds: int) -> Iterator[dict[str, Any]]:
    """Train for so many rounds, and describe the actor every third round."""
    learner, learned, begun = algorithm.learners[0], state.learned[0], time.perf_counter()
    settings = dataclasses.replace(learner.config, critic_steps=UPDATES, updates_per_transition=None)
    learner = dataclasses.replace(learner, config=settings)
    for number in range(1, rounds + 1):
        key = keys.generation(keys.root(0), number)
        relabel = algorithm.approach.relabel(state.replay, key) if algorithm.approach else None
        learned = jax.block_until_ready(train(learner, learned, state.replay, key, relabel))
        seconds = time.perf_counter() - begun
        for injected in NETWORKS if number % 3 == 0 else ():
            actor = dataclasses.replace(state, learned=(learned, *state.learned[1:]))
            about = {"updates": UPDATES * number, "seconds": f"{seconds:.0f}", "injected": injected}
            yield about | described(algorithm, actor, ActorInjectionConfig(injected=injected))


def described(algorithm: Composition, state: State, config: ActorInjectionConfig, factor: float = 1) -> dict[str, str]:
    """What the actor achieves on the same descriptors every time, its output layer multiplied by the factor."""
    space = algorithm.setting.descriptor
    operator = ActorInjection(count=128, learner=algorithm.learners[0], descriptor=space, config=config)
    sources = Sources(archive=state.archive, learned=state.learned, replay=state.replay)
    offspring, starts = operator.vary(sources, keys.root(7)), keys.each(keys.root(8), operator.count)
    genotype = offspring.genotype.copy()
    for part in algorithm.setting.layers.split(genotype)[-1]:  # views
        part *= np.float32(factor)
    asked = Asked(genotype=genotype, target=offspring.target, starts=starts, record=False, state=state, seed=0)
    found = algorithm.setting.evaluate(asked)
    archive, _ = archives.add(state.archive, genotype, found.fitness, found.descriptor)
    distance = np.linalg.norm(found.descriptor - offspring.target, axis=1)
    similar = similarity(normalise(space, found.descriptor), normalise(space, offspring.target), algorithm.length_scale)
    return {
        "fitness": f"{found.fitness.mean():.0f}",
        "distance": f"{distance.mean():.1f}",
        "similarity": f"{similar.mean():.3f}",
        "gain": f"{archive.qd_score - state.archive.qd_score:.0f}",
        "reached": f"{np.linalg.norm(found.descriptor, axis=1).mean():.1f}",
    }


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a row to the file, after a header if it is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
