"""Frames of Gymnasium environments: they are the rollout's states, rendered by the environment."""

from __future__ import annotations

import dataclasses

import gymnasium
import numpy as np
import pytest

import dcrl
from dcrl.rendering.frames import check_renders, episode_frames
from support import square


@pytest.mark.parametrize("over", ["last", "mean"])
@pytest.mark.parametrize("push", [0.9, -0.35])  # the first ends by termination
def test_frames_are_the_states_of_the_rollout(over: str, push: float) -> None:
    space = dataclasses.replace(square.task.descriptor, over=over)
    task = dataclasses.replace(square.task, descriptor=space)
    for seed in (0, 7):
        frames = list(episode_frames(task, square.pushing(push), seed, hidden=()))
        played = dcrl.rollout(task, square.pushing(push)[None], seed, hidden=())
        transitions = played.transitions
        assert transitions is not None
        steps = int(played.steps[0])
        assert [frame.step for frame in frames] == list(range(steps + 1))
        np.testing.assert_array_equal([frame.reward for frame in frames[1:]], transitions.reward[0, :steps])
        last = frames[-1]
        assert np.float32(last.fitness) == played.fitness[0]
        np.testing.assert_array_equal(last.descriptor.astype(np.float32), played.descriptor[0])
        assert (last.terminated, last.valid) == (transitions.terminated[0], True)
        assert last.terminated == (push > 0)
        assert last.seconds == pytest.approx(steps / square.FPS)
        assert (frames[0].reward, frames[0].fitness) == (0, 0)


def test_a_frame_renders_the_state_it_stands_for() -> None:
    places = []
    for frame in episode_frames(square.task, square.pushing(0.9), hidden=()):
        picture = frame.render()
        assert (picture.shape, picture.dtype) == ((square.HEIGHT, square.WIDTH, 3), np.uint8)
        places.append(np.flatnonzero(picture[12, :, 1] == 0).mean())
        if frame.step:
            assert places[-1] == pytest.approx((frame.descriptor[0] + 1) / 2 * square.WIDTH - 0.5, abs=2.1)
    assert places == sorted(places)
    assert places[-1] > places[0] + 15


def test_a_start_without_a_descriptor_is_nan() -> None:
    first, second, *_ = episode_frames(square.task, square.pushing(0.5), hidden=())
    assert np.isnan(first.descriptor).all()  # `info` has no x before the first step
    assert np.isfinite(second.descriptor).all()


def test_what_cannot_be_rendered_is_refused_with_a_sentence() -> None:
    check_renders(square.task)
    unseen = dataclasses.replace(square.task, environment="tests/Unseen-v0")
    for refused in (lambda: check_renders(unseen), lambda: list(episode_frames(unseen, square.pushing(0), hidden=()))):
        with pytest.raises(ValueError, match=r"cannot be rendered: .* render mode 'rgb_array', and it has none"):
            refused()
    for picture, said in ((None, r"got \(\) of object"), (np.zeros((2, 2, 4), np.uint8), r"got \(2, 2, 4\) of uint8")):
        odd = dataclasses.replace(square.task, options={"picture": picture})
        with pytest.raises(ValueError, match=rf"must render arrays \(height, width, 3\) of uint8, {said}"):
            check_renders(odd)
    with pytest.raises(ValueError, match=r"genotypes for square must be \(B, 2\)"):
        next(episode_frames(square.task, np.zeros(3), hidden=()))


class HalfMade:
    """A viewer that fails twice, as Gymnasium's does without OpenGL."""

    def __init__(self) -> None:
        raise RuntimeError("no display")

    def __del__(self) -> None:
        self.context.free()  # type: ignore[attr-defined]


class Displayless(square.Square):
    def render(self) -> None:
        HalfMade()


def test_a_failure_to_render_is_one_sentence() -> None:
    """The failure in `__del__` would be a second error, which pytest reports."""
    gymnasium.register("tests/Displayless-v0", entry_point=Displayless, max_episode_steps=square.STEPS)
    with pytest.raises(ValueError, match=r"Displayless-v0 cannot be rendered here \(RuntimeError: no display\)"):
        check_renders(dataclasses.replace(square.task, environment="tests/Displayless-v0"))


class Incomplete(square.Square):
    def render(self) -> None:
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed, run `pip install pygame`")


def test_a_missing_package_is_named_without_advice_on_opengl() -> None:
    gymnasium.register("tests/Incomplete-v0", entry_point=Incomplete, max_episode_steps=square.STEPS)
    with pytest.raises(ValueError, match="pygame is not installed, run") as refusal:
        check_renders(dataclasses.replace(square.task, environment="tests/Incomplete-v0"))
    assert "OpenGL" not in str(refusal.value)
    gymnasium.register("tests/Displayless-v1", entry_point=Displayless, max_episode_steps=square.STEPS)
    with pytest.raises(ValueError, match="need OpenGL"):
        check_renders(dataclasses.replace(square.task, environment="tests/Displayless-v1"))
