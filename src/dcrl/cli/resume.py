"""`dcrl resume RUN`: go on with a run as if it had never stopped."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import tyro

from dcrl import api, devices, training
from dcrl.archive.centroids import cache_directory
from dcrl.cli.conduct import conduct


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    evaluations: int | None = None,
    threads: int | None = None,
    refresh_seconds: float = api.REFRESH_SECONDS,
    checkpoint_minutes: float = api.CHECKPOINT_MINUTES,
    quiet: bool = False,
) -> int:
    """Go on with a run from its newest intact checkpoint; the outcome is that of a run that never stopped.

    Args:
        path: the run's directory, such as runs/walker2d_uni/dcrl_me/seed-0
        evaluations: another budget, in evaluations since the run's start; its own by default
        threads: threads of the mujoco simulator; all cores by default. Does not change results.
        refresh_seconds: how often the archive, the actor and the figures are refreshed, in seconds
        checkpoint_minutes: how often the whole state is saved, in minutes; 0 for every generation
        quiet: no progress
    """
    devices.prepare(cache_directory())
    with closing(api.reopen(path, evaluations, threads)) as found:
        state = found.restore(lambda sentence: print(f"dcrl: {sentence}; using an older checkpoint", file=sys.stderr))
        generations = training.generations(found.algorithm, found.config.evaluations)
        if state is None:
            print(f"{path} had not got as far as a checkpoint: it starts again from the beginning", flush=True)
        elif state.generation >= generations:
            print(
                f"{path} is complete: generation {state.generation}, {state.evaluations:,} evaluations; "
                f"--evaluations gives it a larger budget, and the archive's map is {path / 'figures' / 'archive.png'}"
            )
            return 0
        elif not quiet:
            print(f"{path} goes on after generation {state.generation} of {generations:,}", flush=True)
        return conduct(found, state, refresh_seconds, checkpoint_minutes, quiet=quiet)
