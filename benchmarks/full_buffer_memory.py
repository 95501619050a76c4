"""Peak memory of DCRL-MAP-Elites with a full replay buffer: fills it with random rows, then runs generations."""

from __future__ import annotations

import argparse

from dcrl import devices
from dcrl.archive.centroids import cache_directory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="humanoid_uni")
    parser.add_argument("--generations", type=int, default=2)
    arguments = parser.parse_args()
    devices.prepare(cache_directory())

    import numpy as np

    from dcrl.bench.generations import peak_gib
    from dcrl.runs import config

    with config.open_algorithm(config.default(arguments.task)) as algorithm:
        state, _ = algorithm.start(0)
        replay = state.replay
        random = np.random.default_rng(0)
        for first in range(replay.size, replay.capacity, 10_000):
            rows = slice(first, min(first + 10_000, replay.capacity))
            replay.observation[rows] = random.standard_normal(replay.observation[rows].shape)
            replay.action[rows] = random.uniform(-1, 1, replay.action[rows].shape)
            replay.reward[rows] = random.uniform(0, 5, replay.reward[rows].shape)
            replay.target[rows] = random.uniform(-1, 1, replay.target[rows].shape)
        replay.inserted = replay.capacity
        stored = sum(array.nbytes for array in replay.arrays) / 2**30
        print(f"{arguments.task}: {replay.size:,} transitions, {stored:.2f} GiB of replay buffer", flush=True)
        for _ in range(arguments.generations):
            state, _ = algorithm.advance(state, 0)
            print(f"generation {state.generation}: peak memory {peak_gib():.2f} GiB", flush=True)


if __name__ == "__main__":
    main()
