"""`dcrl tasks`: every known task on one line, or one task on one page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

import tyro

from dcrl.cli import output
from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.tasks import registry
from dcrl.tasks.task import Task

WIDE = 120  # columns


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is to know about a task before training on it; the JSON object a program gets."""

    name: str
    robot: str  # the module that builds it, or the environment's id
    summary: str
    observation_size: int
    action_size: int
    descriptor_size: int
    descriptor_names: tuple[str, ...]
    descriptor_low: tuple[float, ...]
    descriptor_high: tuple[float, ...]
    descriptor_unit: str
    horizon: int  # control steps
    control_period: float | None  # seconds; None where an environment does not say
    policy_parameters: int
    observations: tuple[str, ...]  # in order; empty where an environment does not name them
    actions: tuple[str, ...]

    @property
    def bounds(self) -> str:
        """`-30 to 30 m`, or one range a dimension where they differ."""
        ranges = [f"{a:g} to {b:g}" for a, b in zip(self.descriptor_low, self.descriptor_high, strict=True)]
        return f"{ranges[0] if len(set(ranges)) == 1 else ', '.join(ranges)} {self.descriptor_unit}"

    @property
    def period(self) -> str:
        return "unknown" if self.control_period is None else f"{self.control_period:g} s"


def run(
    name: Annotated[str, tyro.conf.arg(metavar="[NAME]", help_behavior_hint="(default: every task)")] = "",
    /,
    *,
    json: bool = False,
) -> int:
    """List the tasks, or describe one with its observations in order.

    Args:
        name: a task's name, module:object or file.py:object
        json: print a list of JSON objects, for programs
    """
    descriptions = [describe(registry.get(name))] if name else list(_known())
    if json:
        output.print_json([asdict(description) for description in descriptions])
    elif name:
        _print_page(descriptions[0])
    else:
        _print_table(descriptions)
    return 0


def _known() -> Iterator[Description]:
    """Every task known by name; an installed package that cannot be imported hides only its own."""
    for name in registry.names():
        try:
            yield describe(registry.get(name))
        except ValueError as error:
            print(f"dcrl: {error}", file=sys.stderr)


def describe(task: registry.AnyTask) -> Description:
    """The description of a task; compiles no model."""
    robot = task if isinstance(task, Task) else None
    return Description(
        name=task.name,
        robot=task.robot.__module__.rpartition(".")[2] if isinstance(task, Task) else task.environment,
        summary=task.summary,
        observation_size=task.observation_size,
        action_size=task.action_size,
        descriptor_size=task.descriptor.size,
        descriptor_names=task.descriptor.names,
        descriptor_low=task.descriptor.low,
        descriptor_high=task.descriptor.high,
        descriptor_unit=task.descriptor.unit,
        horizon=task.horizon,
        control_period=robot.integration.period if robot else None,
        policy_parameters=policy_layers(task.observation_size, task.action_size).parameters,
        observations=robot.observations if robot else (),
        actions=robot.actions if robot else (),
    )


def _print_table(descriptions: list[Description]) -> None:
    """One row a task; a narrow terminal gets the numbers only."""
    console = output.console()
    wide = console.width >= WIDE
    numbers = ("obs", "actions", "steps", "period", "parameters")
    table = output.table("task", "robot", *numbers, "descriptor", *(("what",) if wide else ()), right=numbers)
    for task in descriptions:
        names = "; ".join(task.descriptor_names) if wide else str(task.descriptor_size)
        table.add_row(
            task.name,
            task.robot,
            *map(str, (task.observation_size, task.action_size, task.horizon)),
            task.period,
            f"{task.policy_parameters:,}",
            f"{names}: {task.bounds}",
            *((task.summary,) if wide else ()),
        )
    console.print(table)
    console.print(f"Policies have hidden layers {HIDDEN}; `dcrl tasks NAME` tells more of a task.")


def _print_page(task: Description) -> None:
    console = output.console()
    console.print(f"{task.name}\n{task.summary}\n")
    for label, text in (
        ("episode", f"{task.horizon} control steps of {task.period}"),
        ("descriptor", f"{task.descriptor_size}: {'; '.join(task.descriptor_names)}; {task.bounds}"),
        ("policy", f"{task.policy_parameters:,} parameters with hidden layers {HIDDEN}"),
        ("actions", f"{task.action_size}, each from -1 to 1 over its actuator's control range"),
    ):
        console.print(f"{label:<13}{text}")
    _print_numbered(task.actions)
    console.print(f"{'observations':<13}{task.observation_size}")
    _print_numbered(task.observations)


def _print_numbered(labels: tuple[str, ...]) -> None:
    for number, label in enumerate(labels):
        print(f"{number:>16}  {label}")
