"""Checks an algorithm before training: its configuration, and the contract that the built-in ones are tested with."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from dcrl import simulators
from dcrl.algorithms import registry
from dcrl.algorithms.entry import AlgorithmEntry
from dcrl.check.contract import LAWS
from dcrl.check.findings import FaultError, Finding, find, guard
from dcrl.check.trial import Trial, small
from dcrl.networks.policies import HIDDEN
from dcrl.runs.config import RunConfig, from_json, to_json
from dcrl.simulators.simulator import Simulator
from dcrl.tasks.point import point_omni
from dcrl.user_code.reference import is_reference


def check_algorithm(name: str) -> tuple[Finding, ...]:
    """Check everything a run relies on, with a small configuration on the point mass.

    A reference that cannot be imported, or that is no algorithm, is a finding; an unknown name is a ValueError. A check
    is skipped if one that it depends on failed.
    """
    findings: list[Finding] = []
    if is_reference(name) and not find(findings, "load", lambda: f"{name} is the algorithm {registry.get(name).name}"):
        return tuple(findings)
    entry = registry.get(name)
    if not find(findings, "configuration", lambda: _configuration(name, entry)):
        return tuple(findings)
    with simulators.make(point_omni) as simulator:
        build = guard("build", entry.build)
        if find(findings, "build", lambda: _build(build, entry.default, simulator)):
            trial = Trial(build, small(build, entry.default, simulator), simulator)
            for law, holds in LAWS.items():
                find(findings, law, partial(holds, trial))
    return tuple(findings)


def _configuration(name: str, entry: AlgorithmEntry) -> str:
    """It comes back from config.json as it was."""
    config = RunConfig(
        task=point_omni.name,
        algorithm=name,
        evaluations=1,
        seed=0,
        simulator=None,
        hidden=HIDDEN,
        hyperparameters=entry.default,
    )
    try:
        again = from_json(json.loads(json.dumps(to_json(config))), entry)
    except TypeError as error:
        raise FaultError(f"the configuration cannot be written as JSON: {error}") from None
    if again != config:
        raise FaultError(
            f"the configuration {entry.default} comes back from JSON as {again.hyperparameters}; use numbers, texts, "
            "tuples of them and dataclasses"
        )
    return f"{entry.config.__name__} has {len(_flat(to_json(config)['hyperparameters']))} hyperparameters"


def _flat(values: dict[str, Any]) -> list[Any]:
    return [leaf for value in values.values() for leaf in (_flat(value) if isinstance(value, dict) else [value])]


def _build(build: Callable[..., Any], default: Any, simulator: Simulator) -> str:
    whole = Trial(build, default, simulator).algorithm()
    reduced = Trial(build, small(build, default, simulator), simulator).algorithm()
    for built in (whole, reduced):
        if built.initial_evaluations < 1 or built.generation_evaluations < 1:
            raise FaultError("it must evaluate at least one policy at the start and in each generation")
    return f"a generation is {whole.plan}; checked here with {reduced.plan}"
