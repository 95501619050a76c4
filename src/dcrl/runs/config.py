"""The configuration of a run, complete: what `config.json` holds and every flag sets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, get_type_hints

from dcrl import simulators
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.tasks import registry as tasks


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
        if not isinstance(self.evaluations, int):
            raise ValueError(f"the budget is a whole number of evaluations, got {self.evaluations!r}")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise ValueError(f"the seed must be a whole number from 0 to 2^32 - 1, got {self.seed!r}")
        expected = algorithms.get(self.algorithm).config
        if not isinstance(self.hyperparameters, expected):
            raise ValueError(
                f"the hyperparameters of {self.algorithm} are a {expected.__name__}, "
                f"got a {type(self.hyperparameters).__name__}"
            )
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden layers need at least 1 unit each, got {self.hidden}")


def default(task: str, algorithm: str = "dcrl_me") -> RunConfig:
    """The paper's settings, with a budget to match."""
    return RunConfig(
        task=task,
        algorithm=algorithm,
        evaluations=1_000_000,
        seed=0,
        simulator=None,
        hidden=HIDDEN,
        hyperparameters=algorithms.get(algorithm).default,
    )


def build(config: RunConfig, threads: int | None = None) -> Algorithm:
    """The algorithm that a configuration describes, ready to run."""
    task = tasks.get(config.task)
    setting = Setting(
        simulator=simulators.make(task, config.simulator, threads),
        layers=policy_layers(task.observation_size, task.action_size, config.hidden),
        descriptor=task.descriptor,
        descriptor_from_observation=getattr(task, "descriptor_from_observation", None),
    )
    return algorithms.get(config.algorithm).build(setting, config.hyperparameters)


def to_json(config: RunConfig) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_json(content: dict[str, Any]) -> RunConfig:
    """The inverse of `to_json`; names the field that does not fit."""
    algorithm = algorithms.get(str(content.get("algorithm")))
    values = dict(content)
    values["hyperparameters"] = _construct(algorithm.config, values.get("hyperparameters"), "hyperparameters")
    return _fields(RunConfig, values, "configuration")  # type: ignore[no-any-return]


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
    known = {field.name for field in dataclasses.fields(kind)}
    if set(values) != known:
        odd = sorted(set(values) ^ known)
        raise ValueError(f"{where} should have the fields {', '.join(sorted(known))}; {odd[0]!r} does not fit")
    lists_as_tuples = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return kind(**lists_as_tuples)
