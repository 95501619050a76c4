"""QDax's DCRL learner on our tasks: it proposes policies, our simulator plays them; the same cells, start and budget.

    python benchmarks/qdax_learner.py --qdax-python path/to/qdax/bin/python --task walker2d_uni --seed 0

Two environments, two processes. Writes `metrics.csv` with the columns of a run, so that its QD score can be compared
with that of `dcrl train TASK --seed SEED`, which has the same centroids and the same initial policies.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from dcrl import devices, keys, simulators
from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.archive import archive as archives
from dcrl.archive.centroids import cache_directory
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import policy_layers
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks import registry
from dcrl.types import Evaluation, Floats
from frames import Arrays, receive, send
from turns import HIDDEN, Sizes

COLUMNS = ("generation", "evaluations", "wall_seconds", "qd_score", "coverage", "max_fitness")
OPERATORS = ("pg", "ai", "ga")  # in the order of QDax's offspring


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to run."""

    qdax_python: Path
    """The Python of an environment with QDax; README.md says how to make one."""
    task: str = "walker2d_uni"
    """A task of `dcrl tasks`."""
    seed: int = 0
    """The seed of centroids, initial policies and episodes, and of QDax's keys."""
    evaluations: int = 7_680
    """The budget."""
    output: Path = Path("qdax_learner.csv")
    """Where the metrics go."""
    sizes: Sizes = Sizes()


def main() -> int:
    config = tyro.cli(Config, description=__doc__)
    devices.prepare(cache_directory())
    task, sizes = registry.get(config.task), config.sizes
    begin = time.monotonic()
    answers, outbox = os.pipe()
    peer = [str(config.qdax_python), str(Path(__file__).with_name("qdax_proposals.py")), str(outbox)]
    with (
        simulators.make(task) as simulator,
        open(config.output, "w", newline="") as file,
        open(config.output.with_suffix(".log"), "wb") as log,
        os.fdopen(answers, "rb") as inbox,
        subprocess.Popen(peer, stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(outbox,)) as process,
    ):
        os.close(outbox)  # the peer's alone, so that its end is seen here
        assert process.stdin is not None
        layers = policy_layers(task.observation_size, task.action_size, HIDDEN)
        setting = Setting(simulator=simulator, layers=layers, descriptor=task.descriptor)
        archive = setting.empty_archive(ArchiveConfig(cells=sizes.cells, cvt_samples=sizes.cvt_samples), config.seed)
        genotypes = initial_policies(layers, config.seed, sizes.offspring)
        rows = csv.writer(file)
        rows.writerow((*COLUMNS, *(f"added_{name}" for name in OPERATORS)))
        last = config.evaluations // sizes.offspring - 1
        for generation in range(last + 1):
            key = keys.stream(keys.generation(keys.root(config.seed), generation), "start")
            played = evaluate(
                simulator, task.descriptor, genotypes, keys.each(key, len(genotypes)), layers, record=True
            )
            archive, addition = archives.add(archive, genotypes, played.fitness, played.descriptor)
            added = added_by_operator(addition, sizes) if generation else (0, 0, 0)
            counted = (generation + 1) * sizes.offspring
            row = (generation, counted, round(time.monotonic() - begin, 1))
            rows.writerow((*row, archive.qd_score, archive.coverage, archive.max_fitness, *added))
            file.flush()
            entered = " ".join(f"{name} +{count}" for name, count in zip(OPERATORS, added, strict=True))
            print(f"{counted:,} evaluations: QD score {archive.qd_score:,.0f}, {entered}, {row[2]} s", flush=True)
            if generation == last:
                break
            message = steps(played) | {"genotype": genotypes}
            if not generation:
                message |= about(config, archive.centroids, task.horizon, setting)
            send(process.stdin, message)
            answer = receive(inbox)
            if answer is None:
                print(f"QDax's process has ended; see {config.output.with_suffix('.log')}", file=sys.stderr)
                return 1
            genotypes = answer["genotype"]
        process.stdin.close()
    return 0


def added_by_operator(addition: archives.Addition, sizes: Sizes) -> tuple[int, ...]:
    """How many offspring of each operator entered the archive."""
    own = np.split(addition.added, np.cumsum([sizes.pg_offspring, sizes.ai_offspring]))
    return tuple(int(part.sum()) for part in own)


def steps(played: Evaluation) -> Arrays:
    """What was simulated, without padding: one row per step, episode after episode; invalid episodes have none."""
    transitions = played.transitions
    assert transitions is not None
    count = transitions.steps
    mask = np.arange(transitions.reward.shape[1]) < count[:, None]
    return {
        "fitness": np.where(played.valid, played.fitness, -np.inf).astype(np.float32),
        "descriptor": np.where(played.valid[:, None], played.descriptor, 0).astype(np.float32),
        "steps": count,
        "terminated": transitions.terminated,
        "observation": transitions.observation[:, :-1][mask],
        "next_observation": transitions.observation[:, 1:][mask],
        "action": transitions.action[mask],
        "reward": transitions.reward[mask],
    }


def about(config: Config, centroids: Floats, horizon: int, setting: Setting) -> Arrays:
    """What the peer needs to know before the first batch; `qdax_*` are fields of QDax's configuration."""
    sizes = config.sizes
    return {
        "seed": np.array(config.seed),
        "horizon": np.array(horizon),
        "centroids": np.asarray(centroids, np.float32),
        "low": np.asarray(setting.descriptor.low, np.float32),
        "high": np.asarray(setting.descriptor.high, np.float32),
        "qdax_ga_batch_size": np.array(sizes.ga_offspring),
        "qdax_dcrl_batch_size": np.array(sizes.pg_offspring),
        "qdax_ai_batch_size": np.array(sizes.ai_offspring),
        "qdax_num_critic_training_steps": np.array(sizes.critic_steps),
        "qdax_num_pg_training_steps": np.array(sizes.policy_steps),
        "qdax_batch_size": np.array(sizes.batch_size),
        "qdax_replay_buffer_size": np.array(sizes.replay_size),
    }


if __name__ == "__main__":
    sys.exit(main())
