"""`dcrl evaluate RUN ...`: re-evaluate archives' elites and actors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli import output as printing
from dcrl.cli import reproducibility
from dcrl.cli.backends import BackendFlags
from dcrl.cli.evaluation import EvaluationFlags, evaluate
from dcrl.cli.evaluations import evaluate_in_turn, evaluate_jobs
from dcrl.cli.interrupt import INTERRUPTED
from dcrl.simulators.workers import WorkersConfig
from dcrl.sweeps.evaluating import runs_below

EVALUATION, BACKEND = EvaluationFlags(), BackendFlags()


def run(
    paths: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN [RUN ...]")],
    /,
    *,
    json: bool = False,
    flags: Annotated[EvaluationFlags, tyro.conf.arg(name="")] = EVALUATION,
    where: Annotated[BackendFlags, tyro.conf.arg(name="")] = BACKEND,
) -> int:
    """Measure how reproducible an archive is: re-evaluate every elite, and the actor on every occupied cell.

    Prints the cost first. The same command resumes after an interruption, also with more --repeats. Several
    runs are evaluated one after another, each on all cores; with --backend each is a separate job. Runs that are
    complete are skipped.

    Args:
        paths: run directories, also of runs in progress, directories that contain runs, or repertoire files
        json: print the totals as a JSON object, or a list of them; everything else goes to stderr
        flags: how a run is evaluated
        where: the backend
    """
    ray_workers = WorkersConfig(workers=flags.workers).parsed(gymnasium=False).kind == "ray"
    where.check(ray_workers=ray_workers)
    if not paths:
        raise ValueError("expected at least one run to evaluate")
    runs = runs_below(paths)
    if len(runs) > 1 and flags.output is not None:
        raise ValueError("--output is for one run; several are evaluated in their own directories")
    if where.backend is not None:
        if json or flags.output is not None:
            raise ValueError(
                "--json and --output cannot be combined with --backend: results are in each run's `reproducibility`"
            )
        if ray_workers:
            raise ValueError("--workers ray cannot be combined with --backend: choose what is spread over the cluster")
        return evaluate_jobs(runs, flags, where)
    say = sys.stderr if json else sys.stdout
    if len(runs) > 1:
        return evaluate_in_turn(runs, flags, say, where.address, json=json)
    totals = evaluate(runs[0], flags, say, where.address)
    if totals is None:
        return INTERRUPTED
    if json:
        printing.print_json(totals)
    else:
        reproducibility.print_results(totals, Path(totals["output"]))
    return 0
