"""`dcrl tasks`: every known task in a table, or one task on one page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

import tyro
from rich.table import Table

from dcrl.cli import output
from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.tasks import registry
from dcrl.tasks.task import Task

NUMBERS = ("obs", "actions", "steps", "period", "parameters")
DROPPED = ("summary", "robot", "descriptor", "parameters", "period", "actions", "obs")  # in a narrow terminal, in order


@dataclass(frozen=True, kw_only=True)
class Description:
    """All that describes a task before training on it; printed as a JSON object for programs."""

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
        """`-30 to 30 m`, or one range per dimension where they differ."""
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
        json: print a list of JSON objects
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
    """One row per task; a narrow terminal gets fewer columns."""
    rows = [
        (
            task.name,
            task.robot,
            *map(str, (task.observation_size, task.action_size, task.horizon)),
            task.period,
            f"{task.policy_parameters:,}",
            f"{'; '.join(task.descriptor_names)}: {task.bounds}",
            task.summary,
        )
        for task in descriptions
    ]
    output.print_table(("task", "robot", *NUMBERS, "descriptor", "summary"), rows, right=NUMBERS, drop=DROPPED)
    output.print_lines([f"Policies have hidden layers {HIDDEN}. `dcrl tasks NAME` describes a task."])


def _print_page(task: Description) -> None:
    console = output.console()
    console.print(f"{task.name}\n{task.summary}\n")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in (
        ("episode", f"{task.horizon} control steps of {task.period}"),
        ("descriptor", f"{task.descriptor_size}: {'; '.join(task.descriptor_names)}; {task.bounds}"),
        ("policy", f"{task.policy_parameters:,} parameters with hidden layers {HIDDEN}"),
        ("actions", f"{task.action_size}, each from -1 to 1 over its actuator's control range"),
        *_numbered(task.actions),
        ("observations", str(task.observation_size)),
        *_numbered(task.observations),
    ):
        grid.add_row(label, text)
    console.print(grid)


def _numbered(labels: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for number, label in enumerate(labels):
        yield f"{number:>12}", label
