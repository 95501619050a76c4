"""A run under way: its display, and Ctrl-C that leaves things whole."""

from __future__ import annotations

import sys
from pathlib import Path

from dcrl.algorithms.algorithm import State
from dcrl.cli.display import Display
from dcrl.cli.interrupt import Interrupted, interrupts
from dcrl.runs import loop as training
from dcrl.runs import training as api
from dcrl.runs.run import Run
from dcrl.runs.upkeep import Upkeep

INTERRUPTED = 130


def conduct(run: Run, state: State | None, upkeep: Upkeep, *, quiet: bool) -> int:
    """Train, from `state` or from the start, until the budget is used up or somebody asks to stop; the exit code."""
    generations = training.generations(run.algorithm, run.config.evaluations)
    done = state.evaluations if state is not None else 0
    with interrupts() as interrupt, Display(generations, done, enabled=not quiet) as display:

        def stage(name: str) -> None:
            interrupt.check()
            display.stage(name)

        try:
            api.carry_out(run, display.report, stage, state=state, upkeep=upkeep, say=complain)
        except Interrupted:
            display.close()
            print(f"stopped; the results so far are in {run.path}, and `dcrl resume {run.path}` goes on")
            return INTERRUPTED
        except OSError as error:
            display.close()
            raise OSError(f"{error}; the run stopped, and `dcrl resume {run.path}` goes on once that works") from None
    if not quiet:
        print(_what_next(run.path))
    return 0


def complain(sentence: str) -> None:
    print(f"dcrl: {sentence}", file=sys.stderr, flush=True)


def _what_next(path: Path) -> str:
    return (
        f"\nthe archive's map   {path / 'figures' / 'archive.png'}\n"
        f"the curves          {path / 'figures' / 'curves.png'}\n"
        f"use it in Python    dcrl.load({str(path)!r}).policy_for(descriptor)(observation)\n"
        "the paper's budget  the same command with --preset paper"
    )
