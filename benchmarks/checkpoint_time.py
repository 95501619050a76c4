"""How long a run of the paper's size stands still for a checkpoint, and how much it writes, its replay buffer full.

The state is that of `dcrl train TASK` with default hyperparameters; its numbers are random, which are the hardest to
write. The share is of the default interval between two checkpoints.

    python benchmarks/checkpoint_time.py walker2d_uni
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import time
from pathlib import Path

import numpy as np

from dcrl.algorithms.algorithm import State
from dcrl.runs import config as configs
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.checkpoint_config import CheckpointConfig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="walker2d_uni")
    parser.add_argument("--algorithm", default="dcrl_me")
    parser.add_argument("--directory", type=Path, help="where to write; the system's temporary directory by default")
    arguments = parser.parse_args()
    state = full(arguments.task, arguments.algorithm)
    interval = 60 * CheckpointConfig().checkpoint_minutes
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        checkpoints = Checkpoints(Path(directory) / "checkpoints")
        for number, (what, share) in enumerate(
            (("first, all transitions new", 0.0), ("none new", 0.0), ("a tenth new", 0.1), ("all new", 1.0))
        ):
            state.replay.inserted += int(share * state.replay.capacity)
            before = sizes(checkpoints.path)
            begin = time.perf_counter()
            checkpoints.save(dataclasses.replace(state, generation=number), {})
            seconds = time.perf_counter() - begin
            written = sum(size for name, size in sizes(checkpoints.path).items() if name not in before)
            print(
                f"{what:<27} {seconds:6.2f} s  {written / 1e6:7.1f} MB  {seconds / interval:6.2%} of {interval:.0f} s",
                flush=True,
            )


def full(task: str, algorithm: str) -> State:
    """A state with every cell and the whole replay buffer full of random numbers."""
    with configs.open_algorithm(configs.default(task, algorithm)) as opened:
        state = opened.empty_state(0)
    random = np.random.default_rng(0)
    for array in state.replay.arrays:
        array[:] = random.integers(0, 4, array.shape) if array.dtype == np.uint8 else random.random(array.shape, "f4")
    state.replay.inserted = state.replay.capacity
    cells = {name: random.random(getattr(state.archive, name).shape, "f4") for name in ("fitness", "genotype")}
    return dataclasses.replace(state, archive=dataclasses.replace(state.archive, **cells))


def sizes(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in directory.glob("*")} if directory.exists() else {}


if __name__ == "__main__":
    main()
