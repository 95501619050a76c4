"""The moments that videos and strips show, captions, and pictures put together; none of it needs OpenGL."""

from __future__ import annotations

import numpy as np

from dcrl.rendering import video
from dcrl.types import Descriptor

PERIOD, STEPS = 0.1, 50


def test_times_of_a_video():
    np.testing.assert_allclose(video.video_times(STEPS, PERIOD, 5, 1), np.arange(0, 51, 2))
    np.testing.assert_allclose(video.video_times(STEPS, PERIOD, 20, 1), np.arange(0, 50.5, 0.5))
    np.testing.assert_allclose(video.video_times(STEPS, PERIOD, 10, 0.5), np.arange(0, 50.5, 0.5))
    np.testing.assert_allclose(video.video_times(STEPS, PERIOD, 5, 1, 1.2), np.arange(0, 13, 2))


def test_times_of_a_strip():
    np.testing.assert_array_equal(video.strip_times(STEPS, PERIOD, 3), [0, 25, 50])
    np.testing.assert_array_equal(video.strip_times(STEPS, PERIOD, 3, 1.2), [0, 6, 12])


def test_a_caption_omits_what_is_not_known_yet():
    space = Descriptor(names=("x", "y"), unit="m", low=(-1.0, -1.0), high=(1.0, 1.0), over="last")
    assert video.caption(1.5, np.array([0.25, -1]), space) == "1.50 s\nx 0.25\ny -1.00"
    assert video.caption(0, np.full(2, np.nan), space) == "0.00 s"


def test_a_caption_is_in_the_lower_left_corner():
    picture = np.full((60, 200, 3), 128, np.uint8)
    changed = (video.with_caption(picture, "0.10 s") != 128).any(axis=-1)
    assert changed[35:, :60].any()
    assert not changed[:35].any()
    assert not changed[:, 60:].any()


def test_pictures_side_by_side_have_white_gaps():
    one, other = (np.full((6, 8, 3), grey, np.uint8) for grey in (10, 20))
    strip = video.side_by_side([one, other])
    assert strip.shape == (6, 20, 3)
    assert [int(strip[0, column, 0]) for column in (0, 7, 8, 11, 12)] == [10, 10, 255, 255, 20]
