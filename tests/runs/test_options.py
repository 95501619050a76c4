"""The command and the functions in Python have the same options and the same defaults."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dcrl
from dcrl.cli import resume as resume_command
from dcrl.cli.train import Flags
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.simulators.workers import WorkersConfig

GROUPS = {"saving": CheckpointConfig, "where": WorkersConfig}  # each of their fields is a flag
DISPLAY = {"quiet"}  # of the command alone
CALLBACKS = {"on_report"}  # of Python alone


def options(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters that have a default, with it."""
    found = inspect.signature(function).parameters
    return {name: value.default for name, value in found.items() if value.default is not inspect.Parameter.empty}


def flags(kind: type) -> dict[str, Any]:
    return {
        field.name: field.default
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING and field.name not in GROUPS
    }


def grouped() -> dict[str, Any]:
    return {name: default for kind in GROUPS.values() for name, default in flags(kind).items()}


def without(found: dict[str, Any], *names: str) -> dict[str, Any]:
    return {
        name: Path(value) if name == "output" else value
        for name, value in found.items()
        if name not in {*names, *DISPLAY, *CALLBACKS}
    }


def test_train_has_the_flags_of_the_command():
    """Hyperparameters are one argument in Python, and one flag each of the command."""
    command = flags(Flags) | grouped()
    assert without(options(dcrl.train), "hyperparameters") == without(command)


def test_resume_has_the_flags_of_the_command():
    command = options(resume_command.run) | grouped()
    assert without(options(dcrl.resume)) == without(command, *GROUPS)
