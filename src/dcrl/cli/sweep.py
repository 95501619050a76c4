"""`dcrl sweep TASK ...` or `dcrl sweep STUDY.toml`: many runs, on this machine, on Ray or on Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.backends import BackendFlags, make, print_script, run_jobs
from dcrl.cli.program import program
from dcrl.cli.progress import duration
from dcrl.cli.sweep_plan import Plan, plan
from dcrl.repertoires.words import plural
from dcrl.runs.presets import Preset
from dcrl.sweeps.cost import Cost, cost
from dcrl.sweeps.sweep import Backend
from dcrl.sweeps.training import TrainingJob

GIB = 2**30


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Train every algorithm on every task with every seed, each run in its own process.

    Complete runs are skipped and interrupted ones are resumed, so the same command resumes a sweep, also on another
    backend. Flags after -- are passed to `dcrl train`, as in: dcrl sweep ant_omni -- --hidden 64 64
    """

    tasks: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TASK [TASK ...] | STUDY.toml")]
    """Tasks' names (`dcrl tasks` lists them), or your own as module:object or file.py:object; or a study's file."""
    algorithms: tuple[str, ...] | None = None
    """The algorithms; the paper's eight by default."""
    seeds: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="SEED|FIRST-LAST [...]")] = None
    """The runs' seeds, as numbers and ranges: 0-19, or 0 1 5-9; 0-2 by default."""
    preset: Preset | None = None
    """The preset of each run: quick is the paper's settings and 7,680 evaluations (the default), paper the paper's
    1,000,000; fast is only for --algorithms dcrl_me."""
    evaluations: int | None = None
    """The budget of each run, in evaluations; instead of the preset's."""
    output: Path | None = None
    """Where run directories go, `runs` by default: OUTPUT/TASK/ALGORITHM/seed-SEED, each with its log next to it."""
    trust_task: bool = False
    """Run the code that a study's file names as a task; not needed for a file that you have used before."""
    trust_algorithm: bool = False
    """The same for the code that a study's file names as an algorithm."""
    dry_run: bool = False
    """Show what would be run, and do nothing."""
    where: BackendFlags = BackendFlags()


def main(arguments: Sequence[str]) -> int:
    own, passed_on = _split(arguments)
    settings = (tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes)
    flags = tyro.cli(Flags, prog="dcrl sweep", args=own, config=settings)
    flags.where.check()
    found = plan(
        flags.tasks,
        chosen=flags.algorithms,
        seeds=flags.seeds,
        preset=flags.preset,
        evaluations=flags.evaluations,
        output=flags.output,
        trust_task=flags.trust_task,
        trust_algorithm=flags.trust_algorithm,
        passed_on=passed_on,
    )
    waiting = [job for job in found.jobs if not job.is_complete]
    expected = cost(waiting, found.jobs)
    if flags.where.backend == "slurm" and not flags.where.submit and not flags.dry_run:
        return print_script(flags.where, waiting, expected.memory)
    backend = make(flags.where, expected.memory)
    print(_preview(found, waiting, backend, expected), flush=True)
    if flags.dry_run:
        print("\n".join(shlex.join(job.order.command) for job in waiting))
        return 0
    done = f"compare them with `{program()} report {shlex.quote(str(found.output))}`"
    return run_jobs(backend, found.jobs, waiting, flags.where.retries, done)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Before and after `--`."""
    here = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:here]), list(arguments[here + 1 :])


def _preview(found: Plan, waiting: Sequence[TrainingJob], backend: Backend, expected: Cost) -> str:
    sizes = ((found.tasks, "task"), (found.algorithms, "algorithm"), (found.seeds, "seed"))
    count = " x ".join(plural(len(some), noun) for some, noun in sizes)
    budgets = sorted({job.config.evaluations for job in found.jobs})
    evaluations = " to ".join(f"{each:,}" for each in dict.fromkeys((budgets[0], budgets[-1])))
    lines = [
        f"{plural(len(found.jobs), 'run')} ({count}) of {evaluations} evaluations, {backend.description}",
        f"  complete     {len(found.jobs) - len(waiting)}",
        f"  to resume    {sum(job.order.has_started for job in waiting)}",
        *(_costs(expected, min(backend.at_once or len(waiting), len(waiting))) if waiting else ()),
        f"  writes       {found.output}: one directory per run, and its log as seed-N.log",
    ]
    return "\n".join(lines)


def _costs(expected: Cost, at_once: int) -> list[str]:
    memory = f"  memory       about {expected.memory / GIB:.1f} GiB per run at most"
    if at_once > 1:
        memory += f", {at_once * expected.memory / GIB:.1f} GiB for {at_once} at once"
    if expected.seconds is None or expected.longest is None:
        return ["  time         unknown: no run of this task and algorithm has been measured", memory]
    source = "the runs so far" if expected.measured else "rates of one core, docs/scale.md; episodes of full length"
    seconds = max(expected.seconds / at_once, expected.longest)
    return [f"  time         about {duration(seconds)} (from {source})", memory]
