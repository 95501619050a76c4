"""The one path of training: begin or resume a run, train, write checkpoints and results.

`dcrl train` and `dcrl resume` call `begin`, `reopen` and `run_training` with a display; `dcrl.train` and `dcrl.resume`
call them from Python.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from dcrl import devices
from dcrl.algorithms import catalogue
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.algorithm import Algorithm, generations
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.algorithms.state import Report, State
from dcrl.archive.centroids import cache_directory
from dcrl.networks.policies import HIDDEN
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.trust import usable_algorithm, usable_task
from dcrl.runs import config as configs
from dcrl.runs import logs, presets
from dcrl.runs.checkpoint_config import CheckpointConfig, LogName
from dcrl.runs.config import RunConfig
from dcrl.runs.iteration import iterate
from dcrl.runs.place import describe
from dcrl.runs.presets import Preset
from dcrl.runs.recording import Recording, publish
from dcrl.runs.run import Run
from dcrl.simulators.workers import DEFAULT as WORKERS
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks import registry as tasks
from dcrl.user_code import trust
from dcrl.user_code.reference import is_reference, source_checksum

DEFAULT = CheckpointConfig()


def train(
    task: str,
    algorithm: str = catalogue.DEFAULT,
    *,
    preset: Preset | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    output: str | Path = "runs",
    simulator: str | None = None,
    threads: int | None = None,
    workers: str | None = None,
    address: str | None = None,
    cpus_per_worker: int | None = None,
    hidden: tuple[int, ...] = HIDDEN,
    hyperparameters: Any = None,
    overwrite: bool = False,
    refresh_seconds: float = DEFAULT.refresh_seconds,
    checkpoint_minutes: float = DEFAULT.checkpoint_minutes,
    checkpoint_generations: int | None = DEFAULT.checkpoint_generations,
    keep_checkpoints: int = DEFAULT.keep_checkpoints,
    log: Sequence[LogName] = (),
    on_report: Callable[[State, Report], None] = lambda state, report: None,
) -> Repertoire:
    """Train and return the repertoire; the run directory and the defaults are those of `dcrl train`.

    The budget is 7,680 evaluations, as with `preset="quick"`, unless `preset` or `evaluations` sets another.
    `hyperparameters` is the algorithm's configuration, such as `DCRLConfig(pg_offspring=32)`; the paper's by default.
    `preset="fast"` is a configuration of `dcrl_me` with smaller critics and cheaper updates, for a CPU.
    The archive and the figures are refreshed every `refresh_seconds`. The complete state is saved every
    `checkpoint_minutes`, or every `checkpoint_generations` if that comes first; the last `keep_checkpoints` are kept.
    `workers`, `address` and `cpus_per_worker` say where episodes are simulated, like the flags of `dcrl train`.
    `log` says where else to log the metrics: "tensorboard", "wandb". `on_report` is called after every generation.
    `dcrl.resume` resumes an interrupted run.
    """
    config = presets.run_config(
        task, algorithm, preset, evaluations, seed, hidden, simulator, hyperparameters=hyperparameters
    )
    saving = _saving(refresh_seconds, checkpoint_minutes, checkpoint_generations, keep_checkpoints, log)
    where = WorkersConfig(workers=workers, address=address, cpus_per_worker=cpus_per_worker)
    with begin(config, Path(output), saving, overwrite=overwrite, threads=threads, where=where) as run:
        run_training(run, None, saving, on_report)
    return load(run.path)


def resume(
    path: str | Path,
    *,
    evaluations: int | None = None,
    threads: int | None = None,
    workers: str | None = None,
    address: str | None = None,
    cpus_per_worker: int | None = None,
    task: str | None = None,
    trust_task: bool = False,
    algorithm: str | None = None,
    trust_algorithm: bool = False,
    refresh_seconds: float = DEFAULT.refresh_seconds,
    checkpoint_minutes: float = DEFAULT.checkpoint_minutes,
    checkpoint_generations: int | None = DEFAULT.checkpoint_generations,
    keep_checkpoints: int = DEFAULT.keep_checkpoints,
    log: Sequence[LogName] = (),
    on_report: Callable[[State, Report], None] = lambda state, report: None,
) -> Repertoire:
    """Resume a run from its newest intact checkpoint, up to its own budget or a new one.

    The result equals that of an uninterrupted run. `task` is the new location of the run's own task, as
    `file.py:object`, if it was moved; `trust_task` runs the code that the run names even if this user has not used
    it before. `algorithm` and `trust_algorithm` do the same for its algorithm. The other arguments are as in `train`.
    """
    saving = _saving(refresh_seconds, checkpoint_minutes, checkpoint_generations, keep_checkpoints, log)
    where = WorkersConfig(workers=workers, address=address, cpus_per_worker=cpus_per_worker)
    with reopen(
        Path(path),
        saving,
        evaluations=evaluations,
        threads=threads,
        where=where,
        task=task,
        trust_task=trust_task,
        algorithm=algorithm,
        trust_algorithm=trust_algorithm,
    ) as run:
        state = run.restore(_warn)
        if not is_complete(run, state):
            run_training(run, state, saving, on_report)
    return load(run.path)


@contextmanager
def begin(
    config: RunConfig,
    output: Path,
    saving: CheckpointConfig = DEFAULT,
    *,
    overwrite: bool,
    threads: int | None = None,
    where: WorkersConfig = WORKERS,
) -> Iterator[Run]:
    """A new run directory, ready to train. Whoever names a task or an algorithm agrees to run its code."""
    for named in (config.task, config.algorithm):
        if is_reference(named):
            trust.remember(named)
    entry = algorithms.get(config.algorithm)
    with (
        _open_algorithm(config, saving, threads, where, config.task, entry) as algorithm,
        Run.create(output, config, algorithm, overwrite=overwrite) as run,
    ):
        yield run


@contextmanager
def reopen(
    path: Path,
    saving: CheckpointConfig = DEFAULT,
    *,
    evaluations: int | None = None,
    threads: int | None = None,
    where: WorkersConfig = WORKERS,
    task: str | None = None,
    trust_task: bool = False,
    algorithm: str | None = None,
    trust_algorithm: bool = False,
) -> Iterator[Run]:
    """The run in a directory, ready to be restored; with another budget, if one is given.

    Where `task` and `algorithm` are now is noted in the manifest once training continues.
    """
    locate = partial(usable_algorithm, run=path, given=algorithm, trusted=trust_algorithm)
    config = configs.read(path, lambda name: algorithms.get(locate(name)))
    located = locate(config.algorithm)
    reference = usable_task(config.task, path, given=task, trusted=trust_task)
    found = tasks.get(reference)
    moved = describe(task, algorithm, found, path)
    if evaluations is not None:
        config = dataclasses.replace(config, evaluations=evaluations)
    with (
        _open_algorithm(config, saving, threads, where, reference, algorithms.get(located)) as opened,
        Run(path, config, opened, found, source_checksum(located), moved) as run,
    ):
        yield run


@contextmanager
def _open_algorithm(
    config: RunConfig,
    saving: CheckpointConfig,
    threads: int | None,
    where: WorkersConfig,
    reference: str,
    entry: AlgorithmEntry,
) -> Iterator[Algorithm]:
    logs.check(saving.log)
    devices.prepare(cache_directory())
    with configs.open_algorithm(config, threads, where, reference, entry) as algorithm:
        generations(algorithm, config.evaluations)  # refuses a budget below one batch before anything is written
        yield algorithm


def is_complete(run: Run, state: State | None) -> bool:
    """Whether the restored run has nothing left to train; results that a stop prevented are then written."""
    if state is None or not run.is_finished(state):
        return False
    if not run.is_published(state):  # stopped between the last checkpoint and the results
        publish(run, state)
    return True


def run_training(
    run: Run,
    state: State | None,
    saving: CheckpointConfig = DEFAULT,
    on_report: Callable[[State, Report], None] = lambda state, report: None,
    on_stage: Callable[[str], None] = lambda name: None,
    warn: Callable[[str], None] | None = None,
) -> None:
    """Train into a run directory, from `state` or from the start; whatever ends it, the results so far are written.

    `on_stage` is called before each stage of a generation, `warn` with a sentence when a log fails.
    """
    with Recording(run, state, saving, warn or _warn) as recording:
        for reached, report in iterate(run.algorithm, run.config.evaluations, run.config.seed, state, on_stage):
            recording.record(reached, report)
            on_report(reached, report)
            recording.save_what_is_due()


def _saving(
    refresh_seconds: float,
    checkpoint_minutes: float,
    checkpoint_generations: int | None,
    keep_checkpoints: int,
    log: Sequence[LogName],
) -> CheckpointConfig:
    return CheckpointConfig(
        refresh_seconds=refresh_seconds,
        checkpoint_minutes=checkpoint_minutes,
        checkpoint_generations=checkpoint_generations,
        keep_checkpoints=keep_checkpoints,
        log=tuple(log),
    )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=3)
