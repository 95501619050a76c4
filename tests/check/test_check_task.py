"""`check_task` as a whole: what it checks, in which order, and what is only a note."""

from __future__ import annotations

import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from dcrl.check import check_task
from dcrl.tasks.point import point_omni
from support.faulty_tasks import failures, mountain_car, notes


def unlimited_actuator() -> mujoco.MjSpec:
    spec = point_omni.robot()
    spec.actuators[0].ctrllimited = False
    return spec


def test_a_valid_task_passes_every_check() -> None:
    findings = check_task("point_omni")
    assert {finding.status for finding in findings} == {"ok"}
    assert [finding.check for finding in findings] == [
        *("model", "reads", "start", "control ranges", "observe", "reward", "terminated", "step_descriptor", "jax"),
        *("first state", "episodes", "rewards", "descriptors", "exploration", "termination", "determinism"),
    ]


def test_what_is_no_task_is_a_finding() -> None:
    assert "got an object of type float" in failures("dcrl.tasks.point:REACH")["load"]
    assert "cannot import 'no_such_module'" in failures("no_such_module:task")["load"]


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no task 'point_onmi'"):
        check_task("point_onmi")


def test_what_is_allowed_but_unusual_is_a_note() -> None:
    unusual = replace(
        point_omni,
        robot=unlimited_actuator,
        observe=lambda physics: np.concatenate([physics.qpos, physics.qvel, physics.remaining[..., None]], axis=-1),
        step_descriptor=lambda physics: physics.qpos + 30,
    )
    found = notes(unusual)
    assert found.keys() == {"control ranges", "jax", "descriptors", "exploration"}
    assert found["control ranges"].startswith("x has no control range in the model")
    assert re.search(r"runs on mujoco but not on mjx.*observe raises TracerArrayConversionError", found["jax"])
    assert found["descriptors"] == "100% of the initial policies leave the descriptor's bounds and are clipped"


def test_a_gymnasium_task_passes() -> None:
    assert [(finding.check, finding.status) for finding in check_task(mountain_car())] == [
        (check, "ok")
        for check in ("environment", "episodes", "rewards", "descriptors", "exploration", "termination", "determinism")
    ]
