"""The cost of re-evaluating an archive, estimated from a short timed sample of its episodes."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dcrl.evaluation.repeats import Repeats, chunk_size, genotypes_of, start_seeds
from dcrl.repertoires.repertoire import Repertoire
from dcrl.runs.memory import PROCESS
from dcrl.simulators.rollouts import evaluate, start_keys
from dcrl.simulators.simulator import Simulator

SAMPLE = 512  # episodes, at most; an eighth of the work, if that is less


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of the episodes still to play: the sample's mean times their number."""

    episodes: int
    sampled: int
    steps: float  # control steps
    seconds: float
    memory: int  # bytes, of the whole process at its peak, on a simulator without an accelerator


def estimate(repertoire: Repertoire, repeats: Repeats, simulator: Simulator, seed: int) -> Cost:
    """Play a sample, spread evenly over the policies, and extrapolate; where something is compiled, play it twice."""
    left = repeats.total - repeats.done
    count = int(np.clip(left // 8, min(left, 16), SAMPLE))
    if not count:
        return Cost(episodes=0, sampled=0, steps=0.0, seconds=0.0, memory=memory(repertoire, repeats))
    policies = np.linspace(0, repeats.policies, count, endpoint=False).astype(int)
    cells = repeats.cells[policies % len(repeats.cells)]
    starts = start_keys(start_seeds(seed, cells, np.arange(count)).tolist(), count)
    genotypes = genotypes_of(repertoire, cells, policies >= len(repeats.cells))

    def play(rows: slice) -> tuple[int, float]:
        begin = time.perf_counter()
        played = evaluate(simulator, repertoire.space, genotypes[rows], starts[rows], repertoire.layers, record=False)
        return int(played.steps.sum()), time.perf_counter() - begin

    play(slice(None) if simulator.compiles else slice(1))
    steps, seconds = play(slice(None))
    return Cost(
        episodes=left,
        sampled=count,
        steps=steps / count * left,
        seconds=seconds / count * left,
        memory=memory(repertoire, repeats),
    )


def memory(repertoire: Repertoire, repeats: Repeats) -> int:
    """Bytes: process, archive, outcomes as they are written, and the greater of a chunk and the corrected archive."""
    archive = repertoire.genotype.nbytes
    outcomes = repeats.fitness.nbytes + repeats.descriptor.nbytes + repeats.steps.nbytes
    chunk = int(1.25 * 4 * chunk_size(repertoire) * repertoire.layers.parameters)
    return PROCESS + archive + 3 * outcomes + max(chunk, 4 * archive)
