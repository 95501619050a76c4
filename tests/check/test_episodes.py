"""A fault that shows only in whole episodes is found there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcrl.tasks.point import point_omni
from dcrl.types import Array, Physics
from support.faulty_tasks import Fault, assert_found, changed, failures, mountain_car, raising

BROKEN: dict[str, Fault] = {
    "negative reward late in the episode": (
        replace(point_omni, reward=lambda before, control, after: after.remaining - 0.5),
        "rewards",
        r"reward must never be negative, but was -0\.02 at step 25 of policy 0",
    ),
    "descriptor out of bounds": (
        replace(
            changed("step_descriptor", lambda values: values + 7), descriptor=replace(point_omni.descriptor, clip=False)
        ),
        "descriptors",
        r"descriptor 'final x' must lie in \[-3, 3\], but an initial policy measured [67]\.\d+; widen the bounds",
    ),
    "terminated at the first step": (
        replace(point_omni, terminated=lambda physics: physics.remaining < 1),
        "termination",
        r"every episode terminates at its first step",
    ),
    "function that raises late in the episode": (
        replace(
            point_omni,
            reward=lambda before, control, after: raising() if after.remaining.min() < 0.5 else after.remaining,
        ),
        "episodes",
        r"reward raises KeyError: 'left_knee'",
    ),
    "Gymnasium task with a negative reward": (
        mountain_car(reward=lambda rewards: rewards - 1),
        "rewards",
        r"reward must never be negative, but was -1",
    ),
    "Gymnasium task with a wrong descriptor": (
        mountain_car(step_descriptor=lambda observations, infos: observations),
        "episodes",
        r"task car: step_descriptor must return an array of shape \(8, 1\).*got \(8, 2\)",
    ),
    "Gymnasium task whose reward raises": (
        mountain_car(reward=lambda rewards: 1 / 0),
        "episodes",
        r"reward raises ZeroDivisionError: division by zero",
    ),
    "Gymnasium task with an option that is not there": (
        mountain_car(options={"gravity_on_mars": 3.7}),
        "environment",
        r"gravity_on_mars",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found_and_named(fault: str) -> None:
    assert_found(BROKEN[fault])


def test_randomness_from_one_episode_to_the_next_is_found() -> None:
    """Hidden state passes the checks on single states, since it moves with the episodes only."""
    calls = []

    def reward(before: Physics, control: Array, after: Physics) -> Array:
        calls.append(0)
        return np.full(np.shape(after.remaining), 1.0 + (len(calls) > 60))

    assert "the same policies with the same seeds gave a different fitness" in failures(
        replace(point_omni, reward=reward)
    ).get("determinism", "")
