"""Tasks with one thing wrong, and what `check_task` says about them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dcrl.check import check_task
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.point import point_omni
from dcrl.tasks.registry import AnyTask
from dcrl.types import Array, Descriptor

HERE = Descriptor(names=("position",), unit="m", low=(-1.2,), high=(0.6,), over="mean")

Fault = tuple[AnyTask, str, str]  # a task, the check that must fail, and a pattern of what it must say


def failures(task: str | AnyTask) -> dict[str, str]:
    return _sentences(task, "failed")


def notes(task: str | AnyTask) -> dict[str, str]:
    return _sentences(task, "note")


def _sentences(task: str | AnyTask, status: str) -> dict[str, str]:
    return {finding.check: finding.sentence for finding in check_task(task) if finding.status == status}


def assert_found(fault: Fault) -> None:
    """The one check fails and says what it must."""
    task, check, expected = fault
    found = failures(task)
    assert list(found) == [check]
    assert re.search(expected, found[check]), found[check]


def changed(name: str, change: Callable[[Array], Array]) -> Any:
    """point_omni with the values of one function changed."""
    original: Callable[..., Array] = getattr(point_omni, name)
    return replace(point_omni, **{name: lambda *arguments: change(original(*arguments))})


def mountain_car(**given: Any) -> GymnasiumTask:
    defaults: dict[str, Any] = {
        "name": "car",
        "summary": "a car between two hills",
        "environment": "MountainCarContinuous-v0",
        "horizon": 20,
        "descriptor": HERE,
        "step_descriptor": lambda observations, infos: observations[:, :1],
        "reward": lambda rewards: rewards + 0.1,
    }
    return GymnasiumTask(**(defaults | given))


def raising(*arguments: Any) -> Any:
    raise KeyError("left_knee")
