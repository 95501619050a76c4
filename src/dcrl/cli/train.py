"""`dcrl train TASK`: train an algorithm on a task, with a preview and a live display."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from dcrl.algorithms import catalogue
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.cli.display import preview
from dcrl.cli.training import train_with_display
from dcrl.networks.policies import HIDDEN
from dcrl.runs import presets, training
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.config import RunConfig
from dcrl.runs.presets import Preset
from dcrl.simulators import workers
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks import registry as tasks


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Train an algorithm on a task and write the results to a run directory."""

    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]
    """A task's name (`dcrl tasks` lists them), or your own as module:object or file.py:object."""
    algorithm: str = catalogue.DEFAULT
    """The algorithm (`dcrl algorithms` lists them), or your own as module:object or file.py:object. Its
    hyperparameters are the flags below; with --help, shows that algorithm's."""
    preset: Preset | None = None
    """quick: the paper's settings, 7,680 evaluations (minutes on 2 cores, the default). fast: settings of dcrl_me that
    take less time on a CPU, 10,240 evaluations. paper: the paper's settings and its 1,000,000
    evaluations. Other flags override it."""
    evaluations: int | None = None
    """The budget in evaluations (episodes), including the initial random policies; overrides the preset's."""
    seed: int = 0
    """The run's seed; runs with the same seed are identical."""
    output: Path = Path("runs")
    """Where run directories go: OUTPUT/TASK/ALGORITHM/seed-SEED."""
    simulator: Literal["mujoco", "mjx"] | None = None
    """mujoco: C on all cores, the default. mjx: JAX, for accelerators (optional extra)."""
    threads: int | None = None
    """Threads of the mujoco simulator; all cores by default. Does not change results."""
    hidden: tuple[int, ...] = HIDDEN
    """Units of the policies' and the actor's hidden layers."""
    overwrite: bool = False
    """Replace an existing run."""
    quiet: bool = False
    """Show neither the preview nor the progress."""
    where: WorkersConfig = workers.DEFAULT
    saving: CheckpointConfig = training.DEFAULT


def main(arguments: Sequence[str]) -> int:
    flags = parse(arguments)
    config = config_of(flags)
    begun = training.begin(
        config, flags.output, flags.saving, overwrite=flags.overwrite, threads=flags.threads, where=flags.where
    )
    with begun as run:
        if not flags.quiet:
            preview(run)
        return train_with_display(run, None, flags.saving, quiet=flags.quiet)


def parse(arguments: Sequence[str]) -> Any:
    """The flags; --algorithm says which hyperparameters there are, --preset and the task their defaults."""
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    peek.add_argument("--algorithm", default=catalogue.DEFAULT)
    peek.add_argument("--preset")
    first = peek.parse_known_args(arguments)[0]
    entry = algorithms.get(first.algorithm)
    general = presets.preset_hyperparameters(first.preset, first.algorithm)
    flags = _parse(arguments, entry, general)
    own = presets.preset_hyperparameters(first.preset, first.algorithm, flags.task)
    return flags if own == general else _parse(arguments, entry, own)


def _parse(arguments: Sequence[str], entry: AlgorithmEntry, default: Any) -> Any:
    """The flags, with these hyperparameters as defaults."""
    hyperparameters = ("hyperparameters", entry.config, dataclasses.field(default=default))
    kind = dataclasses.make_dataclass("Train", [hyperparameters], bases=(Flags,), frozen=True, kw_only=True)
    kind.__doc__ = f"{Flags.__doc__}\n\n{entry.name}: {entry.summary}."
    settings = (tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes)
    return tyro.cli(kind, prog="dcrl train", args=list(arguments), config=settings)


def config_of(flags: Any) -> RunConfig:
    tasks.get(flags.task)
    return presets.run_config(
        flags.task,
        flags.algorithm,
        flags.preset,
        flags.evaluations,
        flags.seed,
        flags.hidden,
        flags.simulator,
        flags.hyperparameters,
    )
