"""`dcrl resume RUN`: continue a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.training import train_with_display, warn
from dcrl.repertoires.words import plural
from dcrl.runs import training
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.simulators import workers
from dcrl.simulators.workers import WorkersConfig


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    evaluations: int | None = None,
    threads: int | None = None,
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_task: bool = False,
    algorithm: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_algorithm: bool = False,
    quiet: bool = False,
    where: Annotated[WorkersConfig, tyro.conf.arg(name="")] = workers.DEFAULT,
    saving: Annotated[CheckpointConfig, tyro.conf.arg(name="")] = training.DEFAULT,
) -> int:
    """Resume a run from its newest intact checkpoint; the result equals that of an uninterrupted run.

    Args:
        path: the run's directory, such as runs/walker2d_uni/dcrl_me/seed-0
        evaluations: a new budget, in evaluations since the start of the run; by default the run's own
        threads: threads of the mujoco simulator; all cores by default. Does not change results.
        task: the new location of the run's own task, as file.py:object or module:object
        trust_task: run the code that the run names as its task; not needed for a file that you have used before
        algorithm: the new location of the run's own algorithm, as file.py:object or module:object
        trust_algorithm: the same as --trust-task for the code that the run names as its algorithm
        quiet: do not show the progress
        where: where episodes are played
        saving: how often files are written
    """
    with training.reopen(
        path,
        saving,
        evaluations=evaluations,
        threads=threads,
        where=where,
        task=task,
        trust_task=trust_task,
        algorithm=algorithm,
        trust_algorithm=trust_algorithm,
    ) as found:
        state = found.restore(lambda sentence: warn(f"{sentence}; using an older checkpoint"))
        if state is None:
            print(f"{path} has no checkpoint yet: it starts again from the beginning", flush=True)
        elif training.is_complete(found, state):
            print(
                f"{path} is complete: generation {state.generation}, {plural(state.evaluations, 'evaluation')}; "
                f"--evaluations gives it a larger budget, and the archive's map is {path / 'figures' / 'archive.png'}"
            )
            return 0
        elif not quiet:
            print(f"{path} resumes after generation {state.generation} of {found.generations:,}", flush=True)
        return train_with_display(found, state, saving, quiet=quiet)
