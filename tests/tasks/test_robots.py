"""What the pages say of single robots: the height that is observed, which geoms collide, and the gears."""

from __future__ import annotations

import numpy as np
import pytest

from dcrl.tasks import registry
from dcrl.tasks.engine import mujoco
from dcrl.tasks.humanoid import humanoid_uni
from dcrl.tasks.task import Task
from dcrl.types import Physics

HEIGHTS = {"torso z (m)": 0.0, "torso z minus 0.7 m (m)": 0.7}  # and what is subtracted from the height


@pytest.mark.parametrize("name", ["walker2d_uni", "halfcheetah_uni", "hopper_uni", "ant_uni", "humanoid_uni"])
def test_the_observed_height_is_what_its_label_says(name: str) -> None:
    task = registry.get(name)
    assert isinstance(task, Task)
    data = mujoco.MjData(task.model)
    mujoco.mj_forward(task.model, data)
    physics = Physics(np, task.integration.period, np.asarray(1.0), {each: getattr(data, each) for each in task.fields})
    height = data.body("torso").xpos[2] - HEIGHTS[task.observations[0]]
    assert task.observe(physics)[0] == pytest.approx(height, abs=1e-9)
    assert (task.observe(physics)[0] == 0) == (name == "halfcheetah_uni")


def test_every_geom_of_the_humanoid_collides_and_gears_are_gymnasiums() -> None:
    model = humanoid_uni.model
    assert model.ngeom == 18  # the floor and 17 of the robot
    assert (model.geom_contype == 1).all()
    assert (model.geom_conaffinity == 1).all()
    gears = dict(zip(humanoid_uni.actions, model.actuator_gear[:, 0], strict=True))
    other = {"hip_y": 300, "knee": 200, "shoulder1": 25, "shoulder2": 25, "elbow": 25}
    for joint, gear in gears.items():
        assert gear == other.get(joint.removeprefix("right_").removeprefix("left_"), 100)
