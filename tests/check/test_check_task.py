"""`check_task` finds what is wrong with a task, names the function, and says what was expected and what came."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from dcrl.check import check_task
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.point import point_omni
from dcrl.tasks.registry import AnyTask
from dcrl.types import Array, Descriptor, Physics

HERE = Descriptor(names=("position",), unit="m", low=(-1.2,), high=(0.6,), over="mean")


def failures(task: str | AnyTask) -> dict[str, str]:
    return {finding.check: finding.sentence for finding in check_task(task) if finding.status == "failed"}


def notes(task: AnyTask) -> dict[str, str]:
    return {finding.check: finding.sentence for finding in check_task(task) if finding.status == "note"}


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


def nan_in_the_third(observation: Array) -> Array:
    values = observation.copy()
    values[..., 2] = np.nan
    return values


def endless_torque() -> mujoco.MjSpec:
    spec = point_omni.robot()
    spec.actuators[0].ctrllimited = False
    return spec


def test_a_sound_task_passes_every_check() -> None:
    findings = check_task("point_omni")
    assert {finding.status for finding in findings} == {"ok"}
    assert [finding.check for finding in findings] == [
        *("model", "reads", "start", "control ranges", "observe", "reward", "terminated", "step_descriptor", "jax"),
        *("first state", "episodes", "rewards", "descriptors", "termination", "determinism"),
    ]


BROKEN = {
    "observation of a wrong size": (
        changed("observe", lambda values: values[..., :-1]),
        "observe",
        r"observe must return shape \(\.\.\., 5\).*that is \(6, 5\), got \(6, 4\)",
    ),
    "NaN in an observation": (
        changed("observe", nan_in_the_third),
        "observe",
        r"observe gives nan in column 2 \('velocity x \(m/s\)'\)",
    ),
    "observation as a list": (
        changed("observe", lambda values: values.tolist()),
        "observe",
        r"observe must return an array computed with `physics\.xp`, got list",
    ),
    "observation drawn at random": (
        changed("observe", lambda values: values + np.random.normal(size=values.shape)),  # noqa: NPY002
        "observe",
        r"observe gives other values for the same states when called again",
    ),
    "observation that mixes the batch": (
        changed("observe", lambda values: values - values.mean(axis=0)),
        "observe",
        r"observe gives other values for a batch of states than for each alone",
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
    "negative reward": (
        changed("reward", lambda values: values - 5),
        "reward",
        r"reward must never be negative, got -4\.\d+; add an offset or clip it at 0",
    ),
    "negative reward late in the episode": (
        replace(point_omni, reward=lambda before, control, after: after.remaining - 0.5),
        "rewards",
        r"reward must never be negative, but was -0\.02 at step 25 of policy 0",
    ),
    "reward with an axis too many": (
        changed("reward", lambda values: values[..., None]),
        "reward",
        r"reward must return shape \(\.\.\.\).*that is \(6,\), got \(6, 1\)",
    ),
    "descriptor out of bounds": (
        replace(
            changed("step_descriptor", lambda values: values + 7), descriptor=replace(point_omni.descriptor, clip=False)
        ),
        "descriptors",
        r"descriptor 'final x' must lie in \[-3, 3\], but a random policy measured [67]\.\d+; widen the bounds or set",
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
    "terminated at the start": (
        changed("terminated", np.ones_like),
        "first state",
        r"terminated is already true at the start for 6 of 6 keys",
    ),
    "terminated at the first step": (
        replace(point_omni, terminated=lambda physics: physics.remaining < 1),
        "termination",
        r"every episode terminates at its first step",
    ),
    "function that raises": (
        replace(point_omni, reward=raising),
        "reward",
        r"reward raises KeyError: 'left_knee'",
    ),
    "function that raises late in the episode": (
        replace(
            point_omni,
            reward=lambda before, control, after: raising() if after.remaining.min() < 0.5 else after.remaining,
        ),
        "episodes",
        r"reward raises KeyError: 'left_knee'",
    ),
    "field that is not handed over": (
        replace(point_omni, step_descriptor=lambda physics: physics.site_xpos[..., 0, :2]),
        "step_descriptor",
        r"step_descriptor raises AttributeError: .* not 'site_xpos'; name it in the task's `reads`",
    ),
    "field that MuJoCo has not": (
        replace(point_omni, reads=("qposs",)),
        "reads",
        r"`reads` must name fields.*got qposs",
    ),
    "malformed MJCF": (
        replace(point_omni, robot=lambda: mujoco.MjSpec.from_string("<mujoco><worldbdy/></mujoco>")),
        "model",
        r"robot raises ValueError: XML Error: .*unrecognized element Element 'worldbdy', line 1",
    ),
    "robot that does not compile": (
        replace(
            point_omni,
            robot=lambda: mujoco.MjSpec.from_string(
                "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>"
            ),
        ),
        "model",
        r"task point_omni: MuJoCo cannot compile its model: .*mass and inertia",
    ),
    "robot of another type": (
        replace(point_omni, robot=lambda: "point.xml"),
        "model",
        r"robot must return a mujoco\.MjSpec, got str",
    ),
    "wrong number of actions": (
        replace(point_omni, actions=("x", "y", "z")),
        "model",
        r"task point_omni names 3 actions but its model has 2 actuators",
    ),
    "actions in another order": (
        replace(point_omni, actions=("y", "x")),
        "model",
        r"`actions` must follow the model's actuators, which are x, y",
    ),
    "start of a wrong shape": (
        replace(point_omni, start=lambda key, qpos, qvel: (qpos[:1], qvel)),
        "start",
        r"start must return a qpos of shape \(2,\), got \(1,\)",
    ),
    "start drawn outside the key": (
        replace(point_omni, start=lambda key, qpos, qvel: (qpos + np.random.normal(size=2), qvel)),  # noqa: NPY002
        "start",
        r"start is not the same when called again; draw all randomness from the key",
    ),
    "start that raises": (
        replace(point_omni, start=lambda key, qpos, qvel: raising()),
        "start",
        r"start raises KeyError: 'left_knee'",
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
    task, check, expected = BROKEN[fault]
    found = failures(task)
    assert list(found) == [check]
    assert re.search(expected, found[check]), found[check]


def test_what_is_no_task_is_a_finding() -> None:
    assert "got an object of type float" in failures("dcrl.tasks.point:REACH")["load"]
    assert "cannot import 'no_such_module'" in failures("no_such_module:task")["load"]


def test_a_name_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="did you mean point_omni"):
        check_task("point_onmi")


def test_randomness_from_one_episode_to_the_next_is_found() -> None:
    """Hidden state passes the checks on single states, since it moves with the episodes only."""
    calls = []

    def reward(before: Physics, control: Array, after: Physics) -> Array:
        calls.append(0)
        return np.full(np.shape(after.remaining), 1.0 + (len(calls) > 60))

    assert "the same policies from the same seeds gave another fitness" in failures(
        replace(point_omni, reward=reward)
    ).get("determinism", "")


def test_what_may_surprise_is_a_note() -> None:
    unusual = replace(
        point_omni,
        robot=endless_torque,
        observe=lambda physics: np.concatenate([physics.qpos, physics.qvel, physics.remaining[..., None]], axis=-1),
        step_descriptor=lambda physics: physics.qpos + 30,
    )
    found = notes(unusual)
    assert found.keys() == {"control ranges", "jax", "descriptors"}
    assert found["control ranges"].startswith("x has no control range in the model")
    assert re.search(r"runs on mujoco but not on mjx.*observe raises TracerArrayConversionError", found["jax"])
    assert found["descriptors"] == "100% of random policies leave the descriptor's bounds and are clipped"


def test_a_gymnasium_task_passes() -> None:
    assert [(finding.check, finding.status) for finding in check_task(mountain_car())] == [
        (check, "ok") for check in ("environment", "episodes", "rewards", "descriptors", "termination", "determinism")
    ]


def test_a_finding_is_one_line() -> None:
    """MuJoCo's own messages have several."""
    malformed = "<mujoco>\n<worldbdy/>\n</mujoco>"
    with pytest.raises(ValueError, match="\n"):
        mujoco.MjSpec.from_string(malformed)
    sentence = failures(replace(point_omni, robot=lambda: mujoco.MjSpec.from_string(malformed)))["model"]
    assert "\n" not in sentence
    assert "Element 'worldbdy', line 2" in sentence
