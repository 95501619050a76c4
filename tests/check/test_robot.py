"""A fault in a task's model or start is found before anything is simulated."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from dcrl.tasks.point import point_omni
from support.faulty_tasks import Fault, assert_found, changed, failures, raising

BROKEN: dict[str, Fault] = {
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
        r"start differs when called again; draw all randomness from the key",
    ),
    "start that raises": (
        replace(point_omni, start=lambda key, qpos, qvel: raising()),
        "start",
        r"start raises KeyError: 'left_knee'",
    ),
    "terminated at the start": (
        changed("terminated", np.ones_like),
        "first state",
        r"terminated is already true at the start for 6 of 6 keys",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found_and_named(fault: str) -> None:
    assert_found(BROKEN[fault])


def test_a_finding_is_one_line() -> None:
    """MuJoCo's own messages have several."""
    malformed = "<mujoco>\n<worldbdy/>\n</mujoco>"
    with pytest.raises(ValueError, match="\n"):
        mujoco.MjSpec.from_string(malformed)
    sentence = failures(replace(point_omni, robot=lambda: mujoco.MjSpec.from_string(malformed)))["model"]
    assert "\n" not in sentence
    assert "Element 'worldbdy', line 2" in sentence
