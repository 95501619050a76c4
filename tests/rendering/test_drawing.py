"""The scene a robot is drawn in: its view, its trace, and states between two steps."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from dcrl.rendering.drawing import Scene
from dcrl.tasks import registry
from support.pictures import yellow

pytestmark = pytest.mark.usefixtures("opengl")


def test_a_state_between_two_steps_and_the_trace():
    task = registry.BUILT_IN["ant_omni"]
    with closing(Scene(task, 64, 64)) as scene:
        one = task.model.qpos0.copy()
        other = one.copy()
        other[0] += 2
        other[3:7] = [np.cos(0.4), 0, 0, np.sin(0.4)]  # 0.8 rad about the vertical
        half = scene.interpolate(one, other, 0.5)
        np.testing.assert_allclose(half[3:7], [np.cos(0.2), 0, 0, np.sin(0.2)], atol=1e-9)
        assert half[0] == pytest.approx(1)
        away = np.array([[0, 0, 0.75], [2, 1, 0.75]])
        view = scene.view(one[None], away)
        assert view.elevation < -20
        traced, untraced = (scene.picture(one, away[0], view, path) for path in (away, away[:1]))
        assert yellow(traced).sum() > yellow(untraced).sum() + 5


def test_a_planar_robot_is_seen_from_the_side():
    task = registry.BUILT_IN["walker2d_uni"]
    with closing(Scene(task, 64, 64)) as scene:
        qpos, path = task.model.qpos0, np.array([[0, 0, 1.25]])
        view = scene.view(qpos[None], path)
        assert (view.azimuth, view.trace) == (90, False)
        fallen = qpos.copy()
        fallen[2] = np.pi / 2
        upright, lying = ((scene.picture(q, path[0], view, path)) for q in (qpos, fallen))
        changed = (np.abs(upright.astype(int) - lying) > 25).any(axis=-1)
        assert changed[:20, 28:36].sum() > 10  # upright before
        assert changed[:, 36:].sum() > 10  # lying along x after
