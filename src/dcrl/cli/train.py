"""`dcrl train TASK`: the main job, with a preview before it and a live display beside it."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import tyro

from dcrl import devices
from dcrl.algorithms import registry as algorithms
from dcrl.archive.centroids import cache_directory
from dcrl.cli.conduct import conduct
from dcrl.cli.display import preview
from dcrl.networks.policies import HIDDEN
from dcrl.runs import config as configs
from dcrl.runs import logs
from dcrl.runs import loop as training
from dcrl.runs import training as api
from dcrl.runs.config import RunConfig
from dcrl.runs.run import Run
from dcrl.runs.upkeep import Upkeep
from dcrl.tasks import registry as tasks

Preset: TypeAlias = Literal["quick", "paper"]
EVALUATIONS: dict[Preset, int] = {"quick": 7_680, "paper": 1_000_000}


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Train an algorithm on a task and write what it found to a run directory."""

    task: Annotated[str, tyro.conf.Positional]
    """A task's name (`dcrl tasks` lists them), or your own as module:object or file.py:object."""
    algorithm: str = "dcrl_me"
    """The algorithm; its hyperparameters are the flags below. With --help, shows that algorithm's."""
    preset: Preset | None = None
    """The budget: quick is 7,680 evaluations (minutes on 2 cores, the default), paper is 1,000,000."""
    evaluations: int | None = None
    """The budget, in evaluations (episodes), the initial random ones included; instead of --preset."""
    seed: int = 0
    """The run's seed; equal seeds give equal runs."""
    output: Path = Path("runs")
    """Where run directories go: OUTPUT/TASK/ALGORITHM/seed-SEED."""
    simulator: Literal["mujoco", "mjx"] | None = None
    """mujoco: C on all cores, the default. mjx: JAX, for accelerators (optional extra)."""
    threads: int | None = None
    """Threads of the mujoco simulator; all cores by default. Does not change results."""
    hidden: tuple[int, ...] = HIDDEN
    """Units of the policies' and the actor's hidden layers."""
    overwrite: bool = False
    """Replace a run that is already there."""
    quiet: bool = False
    """No preview and no progress."""
    upkeep: Upkeep = api.USUAL


def main(arguments: Sequence[str]) -> int:
    flags = parse(arguments)
    config = config_of(flags)
    logs.check(flags.upkeep.log)
    devices.prepare(cache_directory())
    algorithm = configs.build(config, flags.threads)
    generations = training.generations(algorithm, config.evaluations)
    run = Run.create(flags.output, config, algorithm, overwrite=flags.overwrite)
    with closing(run):
        if not flags.quiet:
            preview(config, algorithm, generations, run.path)
        return conduct(run, None, flags.upkeep, quiet=flags.quiet)


def parse(arguments: Sequence[str]) -> Any:
    """The flags; which hyperparameters there are depends on --algorithm, which is therefore read first."""
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    peek.add_argument("--algorithm", default="dcrl_me")
    entry = algorithms.get(peek.parse_known_args(arguments)[0].algorithm)
    hyperparameters = ("hyperparameters", entry.config, dataclasses.field(default=entry.default))
    kind = dataclasses.make_dataclass("Train", [hyperparameters], bases=(Flags,), frozen=True, kw_only=True)
    kind.__doc__ = f"{Flags.__doc__}\n\n{entry.name}: {entry.summary}."
    settings = (tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes)
    return tyro.cli(kind, prog="dcrl train", args=list(arguments), config=settings)


def budget(preset: Preset | None, evaluations: int | None) -> int:
    """The evaluations that the two flags ask for."""
    if preset and evaluations is not None:
        raise ValueError("give --preset or --evaluations, not both: each sets the budget")
    return EVALUATIONS[preset or "quick"] if evaluations is None else evaluations


def config_of(flags: Any) -> RunConfig:
    evaluations = budget(flags.preset, flags.evaluations)
    tasks.get(flags.task)
    return RunConfig(
        task=flags.task,
        algorithm=flags.algorithm,
        evaluations=evaluations,
        seed=flags.seed,
        simulator=flags.simulator,
        hidden=flags.hidden,
        hyperparameters=flags.hyperparameters,
    )
