"""Runs from Python: `dcrl.train`, which `dcrl train` is a face of."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcrl import devices, training
from dcrl.algorithms.compose import Composition, Report, State
from dcrl.archive.centroids import cache_directory
from dcrl.networks import HIDDEN
from dcrl.runs import config as configs
from dcrl.runs.config import RunConfig
from dcrl.runs.repertoire import Repertoire, load
from dcrl.runs.run import Run

REFRESH_SECONDS = 60.0


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
    on_report: Callable[[State, Report], None] = lambda state, report: None,
) -> Repertoire:
    """Train and return the repertoire found; the run directory is the same as that of `dcrl train`.

    `hyperparameters` is the algorithm's configuration, such as `DCRLConfig(pg_offspring=32)`; the
    paper's by default. `on_report` is called after every generation.
    """
    from dcrl.algorithms import registry

    config = RunConfig(
        task=task,
        algorithm=algorithm,
        evaluations=evaluations,
        seed=seed,
        simulator=simulator,
        hidden=tuple(hidden),
        hyperparameters=registry.get(algorithm).config() if hyperparameters is None else hyperparameters,
    )
    devices.prepare(cache_directory())
    composition = configs.build(config)
    training.generations(composition, evaluations)
    run = Run.create(Path(output), config, composition, overwrite=overwrite)
    carry_out(run, composition, config, on_report)
    return load(run.path)


def carry_out(
    run: Run,
    algorithm: Composition,
    config: RunConfig,
    on_report: Callable[[State, Report], None],
    stage: Callable[[str], None] = lambda name: None,
    refresh_seconds: float = REFRESH_SECONDS,
) -> None:
    """Train into a run directory; whatever ends the training, the results so far are written."""
    state, saved, last_save = None, -1, time.monotonic()
    try:
        for state, report in training.train(algorithm, config.evaluations, config.seed, stage=stage):
            run.record(report)
            on_report(state, report)
            if saved < 0 or time.monotonic() - last_save > refresh_seconds:
                publish(run, state)
                saved, last_save = state.generation, time.monotonic()
    finally:
        if state is not None and saved != state.generation:
            publish(run, state)


def publish(run: Run, state: State) -> None:
    """Refresh archive, actor and figures."""
    from dcrl.analysis.curves import improvement_curves, metric_curves, read_metrics
    from dcrl.analysis.maps import archive_map

    run.save(state)
    archive_map(load(run.path), run.path / "figures" / "archive.png")
    metrics = read_metrics(run.path / "metrics.csv")
    metric_curves(metrics, run.path / "figures" / "curves.png")
    improvement_curves(metrics, run.path / "figures" / "improvement.png")
