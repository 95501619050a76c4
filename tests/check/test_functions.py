"""A fault in one of a task's functions is found on single states, and the function is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcrl.tasks.point import point_omni
from dcrl.types import Array
from support.faulty_tasks import Fault, assert_found, changed, raising


def nan_in_the_third(observation: Array) -> Array:
    values = observation.copy()
    values[..., 2] = np.nan
    return values


BROKEN: dict[str, Fault] = {
    "observation of a wrong size": (
        changed("observe", lambda values: values[..., :-1]),
        "observe",
        r"observe must return shape \(\.\.\., 5\).*that is \(6, 5\), got \(6, 4\)",
    ),
    "NaN in an observation": (
        changed("observe", nan_in_the_third),
        "observe",
        r"observe returns nan in column 2 \('velocity x \(m/s\)'\)",
    ),
    "observation as a list": (
        changed("observe", lambda values: values.tolist()),
        "observe",
        r"observe must return an array computed with `physics\.xp`, got list",
    ),
    "observation drawn at random": (
        changed("observe", lambda values: values + np.random.normal(size=values.shape)),  # noqa: NPY002
        "observe",
        r"observe returns different values for the same states when called again",
    ),
    "observation that mixes the batch": (
        changed("observe", lambda values: values - values.mean(axis=0)),
        "observe",
        r"observe returns different values for a batch of states than for each state alone",
    ),
    "observation for one leading axis only": (
        replace(point_omni, observe=lambda physics: np.hstack([physics.qpos, physics.qvel, physics.qpos[:, :1]])),
        "observe",
        r"on one state without leading axes, observe raises IndexError: too many indices",
    ),
    "function that writes into the state": (
        replace(point_omni, step_descriptor=lambda physics: np.multiply(physics.qpos, 2, out=physics.qpos)),
        "step_descriptor",
        r"step_descriptor raises ValueError: output array is read-only",
    ),
    "reward with an axis too many": (
        changed("reward", lambda values: values[..., None]),
        "reward",
        r"reward must return shape \(\.\.\.\).*that is \(6,\), got \(6, 1\)",
    ),
    "descriptor of a wrong shape": (
        changed("step_descriptor", lambda values: values[..., :1]),
        "step_descriptor",
        r"step_descriptor must return shape \(\.\.\., 2\), one value for each of 'final x', 'final y'.*got \(6, 1\)",
    ),
    "terminated as a number": (
        changed("terminated", lambda values: values * 1.0),
        "terminated",
        r"terminated must return bool values, got float64",
    ),
    "function that raises": (
        replace(point_omni, reward=raising),
        "reward",
        r"reward raises KeyError: 'left_knee'",
    ),
    "field that is not handed over": (
        replace(point_omni, step_descriptor=lambda physics: physics.site_xpos[..., 0, :2]),
        "step_descriptor",
        r"step_descriptor raises AttributeError: .* not 'site_xpos'; name it in the task's `reads`",
    ),
    "negative reward": (
        changed("reward", lambda values: values - 5),
        "reward",
        r"reward must never be negative, got -4\.\d+; add an offset or clip it at 0",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found_and_named(fault: str) -> None:
    assert_found(BROKEN[fault])
