"""Checks a task before training, as Gymnasium's `check_env` checks an environment."""

from __future__ import annotations

import dataclasses

from dcrl.check.episodes import check_episodes
from dcrl.check.findings import Finding, find, guard
from dcrl.check.robot import check_robot
from dcrl.tasks import registry
from dcrl.tasks.gymnasium import GymnasiumTask

__all__ = ["Finding", "check_task"]


def check_task(task: str | registry.AnyTask) -> tuple[Finding, ...]:
    """Check everything a run relies on: the model, shapes, ranges, determinism, a few episodes.

    `task` is what `rollout` takes. A reference that cannot be imported, or that is not a task, is a finding;
    an unknown name is a ValueError. A check is skipped if one that it depends on failed.
    """
    findings: list[Finding] = []
    if isinstance(task, str) and ":" in task:
        reference = task
        if not find(findings, "load", lambda: f"{reference} is the task {registry.get(reference).name}"):
            return tuple(findings)
    task = registry.get(task)
    if isinstance(task, GymnasiumTask):
        _check_environment(findings, task)
    else:
        check_robot(findings, task)
    return tuple(findings)


def _check_environment(findings: list[Finding], task: GymnasiumTask) -> None:
    """A task around a Gymnasium environment is checked through its episodes."""

    def environment() -> str:
        observation, action = task.spaces
        return f"{task.environment} observes {observation.shape} and acts {action.shape}, at most {task.horizon} steps"

    guarded = dataclasses.replace(
        task,
        # here a KeyError means that the entry comes with the first step
        step_descriptor=guard("step_descriptor", task.step_descriptor, passing=(KeyError,)),
        reward=guard("reward", task.reward),
    )
    if find(findings, "environment", environment):
        check_episodes(findings, guarded)
