"""`dcrl sweep TASK ...`: many runs, one after another or several at once; the same command resumes them."""

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

from dcrl.algorithms.catalogue import PAPERS
from dcrl.cli.interrupt import INTERRUPTED, Interrupted, interrupts
from dcrl.cli.output import plural
from dcrl.cli.train import config_of, parse
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.place import describe, directory, folder
from dcrl.runs.presets import Preset, budget
from dcrl.runs.sweep import Job, Sweep
from dcrl.tasks import registry as tasks
from dcrl.user_code.reference import is_reference

LOOK_SECONDS = 0.5
FAILED = 1
OURS = ("--algorithm", "--seed", "--output", "--evaluations", "--preset", "--overwrite")


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Train every algorithm on every task with every seed, each run in a process of its own.

    Complete runs are skipped and interrupted ones are resumed, so the same command resumes a sweep. Flags after
    -- are passed to `dcrl train`, as in: dcrl sweep ant_omni -- --hidden 64 64
    """

    tasks: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TASK [TASK ...]")]
    """Tasks' names (`dcrl tasks` lists them), or your own as module:object or file.py:object."""
    algorithms: tuple[str, ...] = PAPERS
    """The algorithms; the paper's eight by default."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """The runs' seeds."""
    preset: Preset | None = None
    """The preset of each run: quick is the paper's settings and 7,680 evaluations (the default), paper the paper's
    1,000,000; fast is for --algorithms dcrl_me alone."""
    evaluations: int | None = None
    """The budget of each run, in evaluations; instead of the preset's."""
    output: Path = Path("runs")
    """Where run directories go: OUTPUT/TASK/ALGORITHM/seed-SEED, with the log of each run beside it."""
    at_once: int = 1
    """How many runs are trained at a time, each on its share of the cores; does not change results."""
    dry_run: bool = False
    """Show what would be run, and do nothing."""


def main(arguments: Sequence[str]) -> int:
    own, passed_on = _split(arguments)
    flags = tyro.cli(Flags, prog="dcrl sweep", args=own, config=(tyro.conf.FlagCreatePairsOff,))
    every = jobs(flags, passed_on)
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
                    for job in sweep.start():
                        display.started(job)
                    display.look()
                    time.sleep(LOOK_SECONDS)
            except Interrupted:
                display.close()
                print(f"stopping {plural(len(sweep.running), 'run')}", flush=True)
        if interrupt.asked:
            print("interrupted; the same command resumes the sweep")
            return INTERRUPTED
    return _conclude(sweep.failed, flags.output)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Before and after `--`."""
    here = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:here]), list(arguments[here + 1 :])


def jobs(flags: Flags, passed_on: Sequence[str] = ()) -> tuple[Job, ...]:
    """All runs, seed by seed, so that an interrupted sweep leaves results that can be compared.

    Refuses invalid settings, and directories that hold runs with other settings.
    """
    for flag in passed_on:
        if flag.split("=")[0] in OURS:
            raise ValueError(f"{flag} belongs to the sweep: put it before the --")
    evaluations = budget(flags.preset, flags.evaluations)
    if evaluations < 1:
        raise ValueError(f"the budget is at least 1 evaluation, got {evaluations}")
    found = {name: tasks.get(name) for name in flags.tasks}
    if not (flags.tasks and flags.algorithms and flags.seeds):
        raise ValueError("a sweep needs at least one task, one algorithm and one seed")
    preset = [] if flags.preset is None else ["--preset", flags.preset]
    budgeted = [*preset, "--evaluations", str(evaluations), "--output", str(flags.output), *passed_on]
    parsed = {name: parse([flags.tasks[0], "--algorithm", name, *budgeted]) for name in flags.algorithms}
    every = tuple(
        _job(parsed[algorithm], budgeted, task, found[task], seed)
        for seed in flags.seeds
        for task in flags.tasks
        for algorithm in flags.algorithms
    )
    _check_names(found)
    if len({job.path for job in every}) < len(every):
        raise ValueError("a task, an algorithm or a seed is given twice; every run needs a directory of its own")
    for job in every:
        job.check()
    return every


def _check_names(found: Mapping[str, tasks.AnyTask]) -> None:
    """Refuse two tasks of one name: their runs would share directories."""
    names: dict[str, str] = {}
    for given, task in found.items():
        name = folder(given, task)
        if name in names:
            raise ValueError(f"{names[name]} and {given} are both named {name!r}; give one of the two another name")
        names[name] = given


def _job(parsed: Any, budgeted: Sequence[str], name: str, task: tasks.AnyTask, seed: int) -> Job:
    """A run of the algorithm whose flags were parsed, on another task and with another seed."""
    config = dataclasses.replace(config_of(parsed), task=name, seed=seed)
    path = directory(parsed.output, config, task)
    threads = [] if parsed.threads is None else ["--threads", str(parsed.threads)]
    start = ("train", name, "--algorithm", config.algorithm, "--seed", str(seed), *budgeted)
    own = ["--task", name] if is_reference(name) else []
    resume = ("resume", str(path), "--evaluations", str(config.evaluations), *own, *threads, *_flags_of(parsed.saving))
    return Job(config=config, own_task=describe(name, task, path), path=path, start=start, resume=resume)


def _flags_of(saving: CheckpointConfig) -> list[str]:
    """The same settings as flags of `dcrl resume`."""
    flags = []
    for field in dataclasses.fields(saving):
        value = getattr(saving, field.name)
        if value != field.default:
            flags += [f"--{field.name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,))]
    return flags


def _preview(every: Sequence[Job], waiting: Sequence[Job], flags: Flags) -> str:
    sizes = ((flags.tasks, "task"), (flags.algorithms, "algorithm"), (flags.seeds, "seed"))
    count = " x ".join(plural(len(some), noun) for some, noun in sizes)
    return (
        f"{plural(len(every), 'run')} ({count}) of {every[0].config.evaluations:,} evaluations, "
        f"{flags.at_once} at once\n"
        f"  complete     {len(every) - len(waiting)}\n"
        f"  to resume    {sum(job.has_started for job in waiting)}\n"
        f"  writes       {flags.output}: one directory per run, and its log as seed-N.log"
    )


def _conclude(failed: Mapping[Job, str], output: Path) -> int:
    for job, reason in failed.items():
        print(f"failed: {job}: {reason} (log: {job.log})")
    print(f"compare them with `dcrl report {output}`" if not failed else "the same command tries the failed ones again")
    return FAILED if failed else 0


class Display:
    """One bar for the sweep and one per running run in a terminal; one line per run elsewhere."""

    def __init__(self, total: int, done: int) -> None:
        self._console = Console()
        self._bars: dict[Job, rich.TaskID] = {}
        self._started: dict[Job, float] = {}
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

    def started(self, job: Job) -> None:
        self._started[job] = time.monotonic()
        self._bars[job] = self._progress.add_task(str(job), total=job.config.evaluations, numbers="starting")
        self._say(f"started {job}: {job.log}")

    def ended(self, job: Job, *, failed: bool) -> None:
        self._progress.remove_task(self._bars.pop(job))
        self._progress.advance(self._whole)
        seconds = time.monotonic() - self._started.pop(job)
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
