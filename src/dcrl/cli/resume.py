"""`dcrl resume RUN`: go on with a run as if it had never stopped."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import tyro

from dcrl import devices
from dcrl.archive.centroids import cache_directory
from dcrl.cli.conduct import complain, conduct
from dcrl.runs import logs
from dcrl.runs import loop as training
from dcrl.runs import training as api
from dcrl.runs.upkeep import Upkeep


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    evaluations: int | None = None,
    threads: int | None = None,
    quiet: bool = False,
    upkeep: Annotated[Upkeep, tyro.conf.arg(name="")] = api.USUAL,
) -> int:
    """Go on with a run from its newest intact checkpoint; the outcome is that of a run that never stopped.

    Args:
        path: the run's directory, such as runs/walker2d_uni/dcrl_me/seed-0
        evaluations: another budget, in evaluations since the run's start; its own by default
        threads: threads of the mujoco simulator; all cores by default. Does not change results.
        quiet: no progress
        upkeep: what is kept up beside the training
    """
    logs.check(upkeep.log)
    devices.prepare(cache_directory())
    with closing(api.reopen(path, evaluations, threads)) as found:
        state = found.restore(lambda sentence: complain(f"{sentence}; using an older checkpoint"))
        generations = training.generations(found.algorithm, found.config.evaluations)
        if state is None:
            print(f"{path} had not got as far as a checkpoint: it starts again from the beginning", flush=True)
        elif state.generation >= generations:
            if not found.saved(state):  # stopped between the last checkpoint and the results
                api.publish(found, state)
            print(
                f"{path} is complete: generation {state.generation}, {state.evaluations:,} evaluations; "
                f"--evaluations gives it a larger budget, and the archive's map is {path / 'figures' / 'archive.png'}"
            )
            return 0
        elif not quiet:
            print(f"{path} goes on after generation {state.generation} of {generations:,}", flush=True)
        return conduct(found, state, upkeep, quiet=quiet)
