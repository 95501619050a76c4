"""The planner of sweeps: the runs that flags or a study's file ask for, each checked before anything starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.catalogue import PAPERS
from dcrl.cli.train import config_of, parse
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.place import describe, directory, folder
from dcrl.runs.presets import Preset
from dcrl.simulators.workers import WorkersConfig
from dcrl.sweeps import study as studies
from dcrl.sweeps.job import OUTPUT, RUN, Order
from dcrl.sweeps.study import Part, Study
from dcrl.sweeps.training import TrainingJob
from dcrl.tasks import registry as tasks
from dcrl.user_code import trust
from dcrl.user_code.reference import is_reference

SEEDS = (0, 1, 2)
OURS = ("--algorithm", "--seed", "--output", "--evaluations", "--preset", "--overwrite")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The runs of a sweep, seed by seed, so that an interrupted sweep leaves results that can be compared."""

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
    seeds: tuple[int, ...]
    output: Path
    jobs: tuple[TrainingJob, ...]


def plan(
    names: Sequence[str],
    *,
    chosen: Sequence[str] | None = None,
    seeds: Sequence[str] | None = None,
    preset: Preset | None = None,
    evaluations: int | None = None,
    output: Path | None = None,
    trust_task: bool = False,
    trust_algorithm: bool = False,
    passed_on: Sequence[str] = (),
) -> Plan:
    """The runs of tasks or of a study's file; what is given here replaces what the file says.

    Refuses invalid settings, and directories that hold runs with other settings.
    """
    found = _study(names)
    for noun, given, asked, trusted in (
        ("task", found.tasks, names, trust_task),
        ("algorithm", found.algorithms or (), chosen or (), trust_algorithm),
    ):
        for name in given:
            if name not in asked and is_reference(name):  # the file names it, not the user
                trust.check(name, noun, names[0], trust=trusted)
    own = _seeds(seeds, found.seeds)
    place = output or found.output or Path("runs")
    found = _budgeted(found, preset, evaluations)
    which = tuple(chosen) if chosen is not None else found.algorithms or PAPERS
    for flag in passed_on:
        if flag.split("=")[0] in OURS:
            raise ValueError(f"{flag} belongs to the sweep: put it before the --")
    loaded = {name: tasks.get(name) for name in found.tasks}
    for name in which:
        algorithms.get(name)
    if not (found.tasks and which and own):
        raise ValueError("a sweep needs at least one task, one algorithm and one seed")
    jobs = tuple(
        _job(found, task, loaded[task], algorithm, seed, place, tuple(passed_on))
        for seed in own
        for task in found.tasks
        for algorithm in which
    )
    _check_names(loaded)
    if len({job.order.run for job in jobs}) < len(jobs):
        raise ValueError("a task, an algorithm or a seed is given twice; every run needs its own directory")
    for job in jobs:
        job.check()
    return Plan(tasks=found.tasks, algorithms=which, seeds=own, output=place, jobs=jobs)


def _seeds(words: Sequence[str] | None, otherwise: tuple[int, ...] | None) -> tuple[int, ...]:
    return studies.parse_seeds(words) if words is not None else otherwise if otherwise is not None else SEEDS


def _study(names: Sequence[str]) -> Study:
    files = [name for name in names if name.endswith(".toml")]
    if not files:
        return Study(tasks=tuple(names))
    if len(names) > 1:
        raise ValueError(f"give tasks or one study's file, not both, got {' '.join(names)}")
    return studies.read(Path(files[0]))


def _budgeted(study: Study, preset: Preset | None, evaluations: int | None) -> Study:
    """The study with the preset and the budget of the command line, if there is one, for all its parts."""
    if preset is None and evaluations is None:
        return study

    def replaced(part: Part) -> Part:
        return dataclasses.replace(part, preset=preset or part.preset, evaluations=evaluations)

    return dataclasses.replace(
        study,
        general=replaced(study.general),
        task={name: replaced(part) for name, part in study.task.items()},
        algorithm={name: replaced(part) for name, part in study.algorithm.items()},
    )


def _check_names(found: Mapping[str, tasks.AnyTask]) -> None:
    """Refuse two tasks of one name: their runs would share directories."""
    names: dict[str, str] = {}
    for given, task in found.items():
        name = folder(given, task)
        if name in names:
            raise ValueError(f"{names[name]} and {given} are both named {name!r}; give one of the two another name")
        names[name] = given


def _job(
    study: Study,
    name: str,
    task: tasks.AnyTask,
    algorithm: str,
    seed: int,
    output: Path,
    passed_on: tuple[str, ...],
) -> TrainingJob:
    evaluations = study.evaluations(name, algorithm)
    if evaluations < 1:
        raise ValueError(f"the budget is at least 1 evaluation, got {evaluations}")
    preset = study.preset(name, algorithm)
    ours = next((flag for flag in study.flags(name, algorithm) if flag in OURS), None)
    if ours is not None:
        raise ValueError(f"{ours} belongs to the sweep; it cannot be one of a study's flags")
    flags = (*(() if preset is None else ("--preset", preset)), *study.flags(name, algorithm), *passed_on)
    parsed = _parsed(algorithm, evaluations, flags)
    config = dataclasses.replace(config_of(parsed), task=name, seed=seed)
    threads = () if parsed.threads is None else ("--threads", str(parsed.threads))
    budgeted = ("--evaluations", str(evaluations))
    named = (("--task", name), ("--algorithm", algorithm))
    own = [word for flag, text in named if is_reference(text) for word in (flag, text)]
    order = Order(
        output=output,
        place=directory(Path(), config, task),
        start=("train", name, "--algorithm", algorithm, "--seed", str(seed), *budgeted, "--output", OUTPUT, *flags),
        resume=("resume", RUN, *budgeted, *own, *threads, *_flags_of(parsed.saving), *_flags_of(parsed.where)),
        directory=Path.cwd(),
    )
    return TrainingJob(config=config, own=describe(name, algorithm, task, order.run), order=order)


@lru_cache(maxsize=256)
def _parsed(algorithm: str, evaluations: int, flags: tuple[str, ...]) -> Any:
    """The flags of `dcrl train`, parsed once for all seeds; the task does not matter to them."""
    return parse([next(iter(tasks.names())), "--algorithm", algorithm, "--evaluations", str(evaluations), *flags])


def _flags_of(saving: CheckpointConfig | WorkersConfig) -> list[str]:
    """The same settings as flags of `dcrl resume`."""
    flags = []
    for field in dataclasses.fields(saving):
        value = getattr(saving, field.name)
        if value != field.default:
            flags += [f"--{field.name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,))]
    return flags
