"""A training run in the terminal: its display, and Ctrl-C that leaves a checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

from dcrl.algorithms.state import State
from dcrl.cli.display import Display
from dcrl.cli.interrupt import INTERRUPTED, Interrupted, interrupts
from dcrl.cli.program import program
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.config import PAPER_EVALUATIONS
from dcrl.runs.run import Run
from dcrl.runs.training import run_training


def train_with_display(run: Run, state: State | None, saving: CheckpointConfig, *, quiet: bool) -> int:
    """Train, from `state` or from the start, until the budget is used up or the user interrupts; the exit code."""
    evaluations = state.evaluations if state is not None else 0
    with interrupts() as interrupt, Display(run.generations, evaluations, enabled=not quiet) as display:

        def on_stage(name: str) -> None:
            interrupt.check()
            display.stage(name)

        try:
            run_training(run, state, saving, display.report, on_stage, warn)
        except Interrupted:
            display.close()
            print(f"interrupted; the results so far are in {run.path}, and `{_resume(run)}` continues the run")
            return INTERRUPTED
        except OSError as error:
            display.close()
            raise OSError(f"{error}; the run stopped, and `{_resume(run)}` continues it") from None
    if not quiet:
        print(_next_steps(run.path, run.config.evaluations))
    return 0


def warn(sentence: str) -> None:
    print(f"dcrl: {sentence}", file=sys.stderr, flush=True)


def _next_steps(path: Path, evaluations: int) -> str:
    lines = [
        f"\nmap of the archive   {path / 'figures' / 'archive.png'}",
        f"curves               {path / 'figures' / 'curves.png'}",
        f"watch the policies   {program()} explore {quote(str(path))}",
        f"use it in Python     dcrl.load({str(path)!r}).policy_for(descriptor)(observation)",
    ]
    if evaluations < PAPER_EVALUATIONS:
        lines.append(f"the paper's budget   {program()} resume {quote(str(path))} --evaluations {PAPER_EVALUATIONS}")
    return "\n".join(lines)


def _resume(run: Run) -> str:
    return f"{program()} resume {quote(str(run.path))}"
