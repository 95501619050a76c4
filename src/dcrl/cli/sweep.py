"""`dcrl sweep TASK ...`: many runs, one after another or several at once, begun again where they were left."""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import tyro
from rich import progress as rich
from rich.console import Console

from dcrl.algorithms import registry as algorithms
from dcrl.cli.conduct import INTERRUPTED
from dcrl.cli.interrupt import Interrupted, interrupts
from dcrl.cli.train import Preset, budget, config_of, parse
from dcrl.runs.run import directory
from dcrl.runs.sweep import Job, Sweep
from dcrl.runs.upkeep import Upkeep
from dcrl.tasks import registry as tasks

LOOK_SECONDS = 0.5
FAILED = 1
OURS = ("--algorithm", "--seed", "--output", "--evaluations", "--preset", "--overwrite")


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Train every algorithm on every task with every seed, each run in a process of its own.

    A run that is complete is left alone, one that was stopped goes on, so the same command goes on with a
    sweep that was stopped. Flags after -- are given to `dcrl train`, as in: dcrl sweep ant_omni -- --hidden 64 64
    """

    tasks: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TASK [TASK ...]")]
    """Tasks' names (`dcrl tasks` lists them), or your own as module:object or file.py:object."""
    algorithms: tuple[str, ...] = tuple(algorithms.ALGORITHMS)
    """The algorithms; all of them by default."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """The runs' seeds."""
    preset: Preset | None = None
    """The budget of each run: quick is 7,680 evaluations (the default), paper is 1,000,000."""
    evaluations: int | None = None
    """The budget of each run, in evaluations; instead of --preset."""
    output: Path = Path("runs")
    """Where run directories go: OUTPUT/TASK/ALGORITHM/seed-SEED, and what each run prints beside them."""
    at_once: int = 1
    """How many runs go on at a time; each gets its share of the cores, which does not change results."""
    dry_run: bool = False
    """Say what would be run, and do nothing."""


def main(arguments: Sequence[str]) -> int:
    own, handed_on = _split(arguments)
    flags = tyro.cli(Flags, prog="dcrl sweep", args=own, config=(tyro.conf.FlagCreatePairsOff,))
    every = jobs(flags, handed_on)
    waiting = [job for job in every if not job.is_complete]
    sweep = Sweep(waiting, flags.at_once)
    print(_preview(every, waiting, flags), flush=True)
    if flags.dry_run:
        print("\n".join(shlex.join(job.command) for job in waiting))
        return 0
    with interrupts() as interrupt, Display(len(every), len(every) - len(waiting)) as display:
        with sweep:
            try:
                while sweep.busy:
                    interrupt.check()
                    for job in sweep.collect():
                        display.ended(job, failed=job in sweep.failed)
                    for job in sweep.begin():
                        display.begun(job)
                    display.look()
                    time.sleep(LOOK_SECONDS)
            except Interrupted:
                display.close()
                print(f"stopping {len(sweep.running)} runs", flush=True)
        if interrupt.asked:
            print("stopped; the same command goes on")
            return INTERRUPTED
    return _conclude(sweep.failed, flags.output)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Before and after `--`."""
    here = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:here]), list(arguments[here + 1 :])


def jobs(flags: Flags, handed_on: Sequence[str] = ()) -> tuple[Job, ...]:
    """All of them, seed by seed, so that what is there when a sweep is stopped can be compared.

    Refuses what no run could be made of, and directories that hold runs with other settings.
    """
    for flag in handed_on:
        if flag.split("=")[0] in OURS:
            raise ValueError(f"{flag} is for the sweep itself: give it before the --")
    evaluations = budget(flags.preset, flags.evaluations)
    if evaluations < 1:
        raise ValueError(f"the budget is at least 1 evaluation, got {evaluations}")
    for name in flags.tasks:
        tasks.get(name)
    if not (flags.tasks and flags.algorithms and flags.seeds):
        raise ValueError("a sweep needs at least one task, one algorithm and one seed")
    budgeted = ["--evaluations", str(evaluations), "--output", str(flags.output), *handed_on]
    parsed = {name: parse([flags.tasks[0], "--algorithm", name, *budgeted]) for name in flags.algorithms}
    every = tuple(
        _job(parsed[algorithm], budgeted, task, seed)
        for seed in flags.seeds
        for task in flags.tasks
        for algorithm in flags.algorithms
    )
    if len({job.path for job in every}) < len(every):
        raise ValueError("a task, an algorithm or a seed is named twice; every run needs a directory of its own")
    for job in every:
        job.check()
    return every


def _job(parsed: Any, budgeted: Sequence[str], task: str, seed: int) -> Job:
    """A run of the algorithm whose flags were parsed, on another task and with another seed."""
    config = dataclasses.replace(config_of(parsed), task=task, seed=seed)
    path = directory(parsed.output, task, config.algorithm, seed)
    threads = [] if parsed.threads is None else ["--threads", str(parsed.threads)]
    begin = ("train", task, "--algorithm", config.algorithm, "--seed", str(seed), *budgeted)
    go_on = ("resume", str(path), "--evaluations", str(config.evaluations), *threads, *_flags_of(parsed.upkeep))
    return Job(config=config, path=path, begin=begin, go_on=go_on)


def _flags_of(upkeep: Upkeep) -> list[str]:
    """What `dcrl resume` is told to keep up as `dcrl train` was."""
    flags = []
    for field in dataclasses.fields(upkeep):
        value = getattr(upkeep, field.name)
        if value != field.default:
            flags += [f"--{field.name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,))]
    return flags


def _preview(every: Sequence[Job], waiting: Sequence[Job], flags: Flags) -> str:
    count = f"{len(flags.tasks)} tasks x {len(flags.algorithms)} algorithms x {len(flags.seeds)} seeds"
    return (
        f"{len(every)} runs ({count}) of {every[0].config.evaluations:,} evaluations, {flags.at_once} at once\n"
        f"  complete     {len(every) - len(waiting)}\n"
        f"  to go on     {sum(job.has_begun for job in waiting)}\n"
        f"  writes       {flags.output}: a directory a run, and beside it what it prints, as seed-N.log"
    )


def _conclude(failed: Mapping[Job, str], output: Path) -> int:
    for job, reason in failed.items():
        print(f"failed: {job}: {reason} (all it said: {job.log})")
    print(f"compare them with `dcrl report {output}`" if not failed else "the same command tries those again")
    return FAILED if failed else 0


class Display:
    """A bar for the sweep and one for each run under way, in a terminal; a line a run elsewhere."""

    def __init__(self, total: int, done: int) -> None:
        self._console = Console()
        self._bars: dict[Job, rich.TaskID] = {}
        self._begun: dict[Job, float] = {}
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[numbers]}"),
        )
        self._progress = rich.Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._whole = self._progress.add_task("runs", total=total, completed=done, numbers="")

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._progress.stop()

    def begun(self, job: Job) -> None:
        self._begun[job] = time.monotonic()
        self._bars[job] = self._progress.add_task(str(job), total=job.config.evaluations, numbers="begins")
        self._say(f"begins  {job}: {job.log}")

    def ended(self, job: Job, *, failed: bool) -> None:
        self._progress.remove_task(self._bars.pop(job))
        self._progress.advance(self._whole)
        seconds = time.monotonic() - self._begun.pop(job)
        self._say(f"{'failed ' if failed else 'done   '} {job}: {_numbers(job.reached())}, {seconds:,.0f} s")

    def look(self) -> None:
        if self._progress.disable:
            return
        for job, bar in self._bars.items():
            reached = job.reached()
            if reached:
                self._progress.update(bar, completed=reached["evaluations"], numbers=_numbers(reached))

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)


def _numbers(reached: dict[str, float]) -> str:
    if not reached:
        return "no results"
    return (
        f"{reached['evaluations']:,.0f} evaluations, QD score {reached['qd_score']:,.0f}, "
        f"coverage {reached['coverage']:.1%}, max fitness {reached['max_fitness']:,.0f}"
    )
