"""The configuration of a run, complete: what `config.json` holds and every flag sets."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from dcrl import simulators
from dcrl.algorithms import catalogue
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.files import read_json
from dcrl.hyperparameters import ADDED, is_whole, layer_sizes, make_plain
from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.runs.manifest import made_with
from dcrl.simulators.workers import HERE_ONLY, WorkersConfig
from dcrl.tasks import registry as tasks
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.user_code.reference import is_reference

PAPER_EVALUATIONS = 1_000_000
# Options that this version no longer has and that were not off by None: the value that was off, or any ("ascii", which
# configured the offspring of an option that is gone).
REMOVED: dict[str, tuple[Any, ...]] = {"return_steps": (1,), "relabelled": (0.0,), "ascii": ()}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A task, an algorithm with all its hyperparameters, a budget and a seed."""

    task: str
    algorithm: str
    evaluations: int
    seed: int
    simulator: str | None
    hidden: tuple[int, ...]
    hyperparameters: Any  # the algorithm's own configuration

    def __post_init__(self) -> None:
        if not isinstance(self.task, str):
            raise ValueError("a run needs its task by name, or as file.py:object, so that it can be repeated")
        if not isinstance(self.algorithm, str):
            raise ValueError(f"a run needs its algorithm by name, or as file.py:object, got {self.algorithm!r}")
        make_plain(self, "evaluations", "seed", "hidden", "hyperparameters")
        if not is_whole(self.evaluations):
            raise ValueError(f"the budget is a whole number of evaluations, got {self.evaluations!r}")
        if not is_whole(self.seed) or not 0 <= self.seed < 2**32:
            raise ValueError(f"the seed must be a whole number from 0 to 2^32 - 1, got {self.seed!r}")
        if not is_reference(self.algorithm):  # the user's own may not be where it was; `open_algorithm` checks it
            algorithms.installed(self.algorithm).check(self.hyperparameters)
        layer_sizes(self, "hidden")


def default(task: str, algorithm: str = catalogue.DEFAULT) -> RunConfig:
    """The paper's settings and budget."""
    return RunConfig(
        task=task,
        algorithm=algorithm,
        evaluations=PAPER_EVALUATIONS,
        seed=0,
        simulator=None,
        hidden=HIDDEN,
        hyperparameters=algorithms.get(algorithm).default,
    )


@contextmanager
def open_algorithm(
    config: RunConfig,
    threads: int | None = None,
    where: WorkersConfig = HERE_ONLY,
    reference: str | None = None,
    entry: AlgorithmEntry | None = None,
) -> Iterator[Algorithm]:
    """The algorithm that a configuration describes, ready to run; its simulator is open during the block.

    `where` says which processes play the episodes; `reference` is where the task is now, if it was moved. `entry` is
    the algorithm, if it is known already.
    """
    reference = config.task if reference is None else reference
    task = tasks.get(reference)
    entry = algorithms.get(config.algorithm) if entry is None else entry
    entry.check(config.hyperparameters)
    workers = where.parsed(gymnasium=isinstance(task, GymnasiumTask))
    with simulators.make(task, config.simulator, threads, workers, reference) as simulator:
        setting = Setting(
            simulator=simulator,
            layers=policy_layers(task.observation_size, task.action_size, config.hidden),
            descriptor=task.descriptor,
            descriptor_from_observation=getattr(task, "descriptor_from_observation", None),
            horizon=task.horizon,
        )
        yield entry.build(setting, config.hyperparameters)


def to_json(config: RunConfig) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_json(content: dict[str, Any], own: AlgorithmEntry | None = None) -> RunConfig:
    """The inverse of `to_json`; names the field that does not fit. `own` is its algorithm, if it is the user's own."""
    entry = algorithms.installed(str(content.get("algorithm"))) if own is None else own
    values = dict(content)
    values["hyperparameters"] = _construct(entry.config, values.get("hyperparameters"), "hyperparameters")
    return _fields(RunConfig, values, "configuration")  # type: ignore[no-any-return]


def completed(content: dict[str, Any]) -> dict[str, Any]:
    """A stored configuration with the fields that it is too old to have; as it is, if it is none that can be read."""
    try:
        found = to_json(from_json({"evaluations": 0} | content))
    except (AttributeError, KeyError, TypeError, ValueError):
        return content
    return {name: value for name, value in found.items() if name != "evaluations" or name in content}


def read(run: Path, find: Callable[[str], AlgorithmEntry] = algorithms.installed) -> RunConfig:
    """The configuration in a run directory; `find` returns an algorithm of the user's own."""
    path = run / "config.json"
    if not path.is_file():
        raise ValueError(f"there is no run at {run}: it has no config.json; expected a directory of `dcrl train`")
    content = read_json(path)
    named = content.get("algorithm") if isinstance(content, dict) else None
    own = find(named) if isinstance(named, str) and is_reference(named) else None
    try:
        return from_json(content, own)
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # other fields, or values of other types
        raise ValueError(f"{path} is not the configuration of a run: {error} ({made_with(run)})") from None


@dataclass(frozen=True)
class Difference:
    """A field in which two configurations differ, by its full name."""

    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.name} was {self.before!r} and is now {self.now!r}"


def differences(before: Any, now: Any, name: str = "") -> Iterator[Difference]:
    """The fields in which two JSON values differ; tuples are lists, as in JSON."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif (there := json.loads(json.dumps(before))) != (here := json.loads(json.dumps(now))):
        yield Difference(name, there, here)


def _construct(kind: type[Any], content: Any, where: str) -> Any:
    if not isinstance(content, dict):
        raise ValueError(f"{where} must be an object, got {content!r}")
    hints = get_type_hints(kind)
    values = {
        name: _construct(hints[name], value, f"{where}.{name}") if dataclasses.is_dataclass(hints.get(name)) else value
        for name, value in content.items()
    }
    return _fields(kind, values, where)


def _fields(kind: type[Any], values: dict[str, Any], where: str) -> Any:
    fields = dataclasses.fields(kind)
    known = {field.name for field in fields}
    added = {field.name: field.default for field in fields if field.metadata == ADDED}
    values = added | {name: value for name, value in values.items() if name in known or not _was_off(name, value)}
    if set(values) != known:
        odd = sorted(set(values) ^ known)
        raise ValueError(f"{where} should have the fields {', '.join(sorted(known))}; {odd[0]!r} does not fit")
    lists_as_tuples = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return kind(**lists_as_tuples)


def _was_off(name: str, value: Any) -> bool:
    """Whether an option that this version no longer has made no difference."""
    off = REMOVED.get(name, (None,))
    return value is None or not off or value in off
