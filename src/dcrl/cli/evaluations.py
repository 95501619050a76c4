"""Several runs re-evaluated: one after another on all cores, or as jobs of a backend; complete ones are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from dcrl.cli import output as printing
from dcrl.cli.backends import FAILED, BackendFlags, make, print_script, run_jobs
from dcrl.cli.evaluation import EvaluationFlags, evaluate
from dcrl.cli.interrupt import INTERRUPTED
from dcrl.repertoires.words import plural
from dcrl.runs.memory import PROCESS
from dcrl.sweeps.evaluating import ARCHIVE, EvaluationJob, evaluation_job

ROOM = 5  # times the archive: what an evaluation needs besides the process


def evaluate_jobs(runs: Sequence[Path], flags: EvaluationFlags, where: BackendFlags) -> int:
    """Evaluate runs on a backend, each in a process of its own; the exit code."""
    odd = next((run for run in runs if not run.is_dir()), None)
    if odd is not None:
        raise ValueError(f"--backend evaluates run directories, got {odd}")
    jobs = [_job(run, flags) for run in runs]
    waiting = [job for job in jobs if flags.overwrite or not job.is_complete]
    memory = PROCESS + ROOM * max(((job.order.run / ARCHIVE).stat().st_size for job in waiting), default=0)
    if where.backend == "slurm" and not where.submit:
        return print_script(where, waiting, memory)
    backend = make(where, memory)
    print(f"{plural(len(jobs), 'run')}, {plural(flags.repeats, 'repeat')} of each policy, {backend.description}")
    print(f"  complete     {len(jobs) - len(waiting)}", flush=True)
    return run_jobs(backend, jobs, waiting, where.retries, "all runs are evaluated")


def evaluate_in_turn(
    runs: Sequence[Path], flags: EvaluationFlags, say: TextIO, address: str | None, *, json: bool
) -> int:
    """Evaluate runs in this process; the exit code. A run that is refused does not stop the others."""
    found: list[dict[str, Any]] = []
    failed: dict[Path, str] = {}
    for number, run in enumerate(runs, 1):
        complete = run.is_dir() and not flags.overwrite and _job(run, flags).is_complete
        print(f"[{number}/{len(runs)}] {run}{': complete' if complete else ''}", file=say, flush=True)
        if complete and not json:
            continue
        try:
            totals = evaluate(run, flags, say, address)  # of a complete one it reads the totals
        except (ValueError, OSError) as error:
            failed[run] = str(error)
            continue
        if totals is None:
            return INTERRUPTED
        found.append(totals)
    for run, reason in failed.items():
        print(f"failed: {run}: {reason}", file=say)
    if json:
        printing.print_json(found)
    return FAILED if failed else 0


def _job(run: Path, flags: EvaluationFlags) -> EvaluationJob:
    return evaluation_job(run, flags.words(), repeats=flags.repeats, seed=flags.seed, actor=not flags.no_actor)
