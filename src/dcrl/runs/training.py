"""Runs from Python: `dcrl.train`, which `dcrl train` is a face of."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dcrl import devices
from dcrl.algorithms.algorithm import Report, State
from dcrl.archive.centroids import cache_directory
from dcrl.files import read_json
from dcrl.networks.policies import HIDDEN
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire
from dcrl.runs import config as configs
from dcrl.runs import logs
from dcrl.runs import loop as training
from dcrl.runs.config import RunConfig
from dcrl.runs.metrics import read_metrics
from dcrl.runs.run import Run
from dcrl.runs.upkeep import LogName, Upkeep
from dcrl.tasks import registry as tasks

USUAL = Upkeep()


def train(
    task: str,
    algorithm: str = "dcrl_me",
    *,
    evaluations: int = 1_000_000,
    seed: int = 0,
    output: str | Path = "runs",
    simulator: str | None = None,
    hidden: tuple[int, ...] = HIDDEN,
    hyperparameters: Any = None,
    overwrite: bool = False,
    checkpoint_minutes: float = USUAL.checkpoint_minutes,
    checkpoint_generations: int | None = None,
    keep_checkpoints: int = USUAL.keep_checkpoints,
    log: Sequence[LogName] = (),
    on_report: Callable[[State, Report], None] = lambda state, report: None,
) -> Repertoire:
    """Train and return the repertoire found; the run directory is the same as that of `dcrl train`.

    `hyperparameters` is the algorithm's configuration, such as `DCRLConfig(pg_offspring=32)`; the
    paper's by default. The whole state is saved every `checkpoint_minutes`, or every
    `checkpoint_generations` if that comes first, and the last `keep_checkpoints` of these are kept.
    `log` names where the metrics go besides `metrics.csv`: "tensorboard", "wandb". `on_report` is called
    after every generation. A run that was stopped goes on with `resume`.
    """
    from dcrl.algorithms import registry

    upkeep = _upkeep(checkpoint_minutes, checkpoint_generations, keep_checkpoints, log)
    config = RunConfig(
        task=task,
        algorithm=algorithm,
        evaluations=evaluations,
        seed=seed,
        simulator=simulator,
        hidden=tuple(hidden),
        hyperparameters=registry.get(algorithm).default if hyperparameters is None else hyperparameters,
    )
    devices.prepare(cache_directory())
    composition = configs.build(config)
    training.generations(composition, evaluations)
    run = Run.create(Path(output), config, composition, overwrite=overwrite)
    try:
        carry_out(run, on_report, upkeep=upkeep)
    finally:
        run.close()
    return load(run.path)


def resume(
    path: str | Path,
    *,
    evaluations: int | None = None,
    checkpoint_minutes: float = USUAL.checkpoint_minutes,
    checkpoint_generations: int | None = None,
    keep_checkpoints: int = USUAL.keep_checkpoints,
    log: Sequence[LogName] = (),
    on_report: Callable[[State, Report], None] = lambda state, report: None,
) -> Repertoire:
    """Go on with a run as if it had never stopped, to its own budget or to another one; else as in `train`."""
    upkeep = _upkeep(checkpoint_minutes, checkpoint_generations, keep_checkpoints, log)
    devices.prepare(cache_directory())
    run = reopen(Path(path), evaluations)
    try:
        carry_out(run, on_report, state=run.restore(lambda sentence: None), upkeep=upkeep)
    finally:
        run.close()
    return load(run.path)


def _upkeep(minutes: float, generations: int | None, kept: int, log: Sequence[LogName]) -> Upkeep:
    logs.check(log)
    return Upkeep(checkpoint_minutes=minutes, checkpoint_generations=generations, keep_checkpoints=kept, log=tuple(log))


def reopen(path: Path, evaluations: int | None = None, threads: int | None = None) -> Run:
    """The run in a directory, ready to be restored; with another budget, if one is given."""
    if not (path / "config.json").is_file():
        raise ValueError(f"there is no run at {path}: it has no config.json; expected a directory of `dcrl train`")
    try:
        config = configs.from_json(read_json(path / "config.json"))
    except (AttributeError, KeyError, TypeError) as error:  # a value of another type than the field's
        raise ValueError(f"{path / 'config.json'} is no configuration of a run: {error}") from None
    if evaluations is not None:
        config = dataclasses.replace(config, evaluations=evaluations)
    algorithm = configs.build(config, threads)
    training.generations(algorithm, config.evaluations)
    return Run(path, config, algorithm)


class Due:
    """Whether it is time again: after so many seconds, or at a multiple of so many generations."""

    def __init__(self, seconds: float, generations: int | None = None) -> None:
        self.seconds, self.generations, self.last, self.generation = seconds, generations, time.monotonic(), -1

    def now(self, state: State) -> bool:
        at_multiple = self.generations is not None and state.generation % self.generations == 0
        return self.generation < 0 or at_multiple or time.monotonic() - self.last >= self.seconds

    def done(self, state: State) -> None:
        self.last, self.generation = time.monotonic(), state.generation


def carry_out(
    run: Run,
    on_report: Callable[[State, Report], None],
    stage: Callable[[str], None] = lambda name: None,
    *,
    state: State | None = None,
    upkeep: Upkeep = USUAL,
    say: Callable[[str], None] = lambda sentence: warnings.warn(sentence, RuntimeWarning, stacklevel=2),
) -> None:
    """Train into a run directory; whatever ends the training, the results so far are written.

    `say` is told when a log had to be given up.
    """
    config, last = run.config, state
    run.write_config()
    run.checkpoints.kept = upkeep.keep_checkpoints
    work = (
        (Run.checkpoint, Due(60 * upkeep.checkpoint_minutes, upkeep.checkpoint_generations)),
        (publish, Due(upkeep.refresh_seconds)),
    )
    known = state.evaluations if state is not None else -1
    logged = logs.start(upkeep.log, run.path, configs.to_json(config), known, say)
    try:
        for last, report in training.train(run.algorithm, config.evaluations, config.seed, state, stage):
            logged.write(run.record(report))
            on_report(last, report)
            for write, due in work:
                if due.now(last):
                    write(run, last)
                    due.done(last)
    finally:
        with ExitStack() as each:  # the others are written even if one cannot be
            each.callback(logged.close)
            for write, due in work[::-1]:
                if last is not None and due.generation != last.generation:
                    each.callback(write, run, last)


def publish(run: Run, state: State) -> None:
    """Refresh archive, actor and figures."""
    from dcrl.figures.curves import improvement_curves, metric_curves
    from dcrl.figures.maps import archive_map

    run.save(state)
    space = tasks.get(run.config.task).descriptor
    archive_map(state.archive, space, run.config.task, run.path / "figures" / "archive.png")
    metrics = read_metrics(run.path / "metrics.csv")
    metric_curves(metrics, run.path / "figures" / "curves.png")
    improvement_curves(metrics, run.path / "figures" / "improvement.png")
