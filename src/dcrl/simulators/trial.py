"""A trial step of a task before it is simulated, so that a mistake in it is one clear error and not a crash later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dcrl.tasks.engine import Batch
from dcrl.tasks.task import Task
from dcrl.types import Physics

ROBOTS = 2  # a batch of one would hide functions that mix up robots


def try_out(task: Task) -> None:
    """Call each of the task's functions on a step from the model's default pose; a wrong shape is a ValueError."""
    batch = Batch(task.model, ROBOTS, 1)
    try:
        bound = {name: batch.bind(name) for name in task.fields}
    except (AttributeError, ValueError) as error:
        raise ValueError(f"task {task.name} reads what MjData does not have: {error}") from None
    batch.reset()

    def read(remaining: float) -> Physics:
        fields = {name: values.copy() for name, values in bound.items()}
        return Physics(np, task.integration.period, np.full(ROBOTS, remaining), fields)

    control = np.zeros((ROBOTS, task.action_size))
    before = read(1.0)
    batch.step(nstep=task.integration.substeps)
    after = read((task.horizon - 1) / task.horizon)
    for name, shape, call in (
        ("observe", (ROBOTS, task.observation_size), lambda: task.observe(after)),
        ("reward", (ROBOTS,), lambda: task.reward(before, control, after)),
        ("terminated", (ROBOTS,), lambda: task.terminated(after)),
        ("step_descriptor", (ROBOTS, task.descriptor.size), lambda: task.step_descriptor(after)),
    ):
        _fits(task, name, shape, call)


def _fits(task: Task, name: str, shape: tuple[int, ...], call: Callable[[], Any]) -> None:
    try:
        found = np.shape(call())
    except Exception as error:  # any exception of the task's function
        raise ValueError(
            f"task {task.name}: {name} raises {type(error).__name__}: {error}; `dcrl check-task` says more"
        ) from error
    if found != shape:
        raise ValueError(
            f"task {task.name}: {name} must return shape {shape} for {ROBOTS} robots, got {found}; "
            "`dcrl check-task` says more"
        )
