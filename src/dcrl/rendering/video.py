"""Which moments of an episode a video or a strip shows, and what is written onto its pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from dcrl.types import Descriptor, Floats

Picture = NDArray[np.uint8]  # (height, width, 3)

GAP = 4  # pixels between the pictures of a strip


def video_times(steps: int, period: float, fps: float, speed: float, seconds: float = np.inf) -> Floats:
    """When to show an episode of `steps` of `period` seconds in a video: in steps and fractions of them.

    `speed` is the playback speed. At most the first `seconds` of the episode are shown.
    """
    count = int(min(steps * period, seconds) / speed * fps + 1e-9) + 1
    times: Floats = np.minimum(np.arange(count) * speed / fps / period, steps)
    return times


def strip_times(steps: int, period: float, count: int, seconds: float = np.inf) -> Floats:
    """`count` whole steps, evenly spaced from the first state to the last, or to the one after `seconds`."""
    return np.round(np.linspace(0, min(steps, seconds / period), count))


def split_time(time: float) -> tuple[int, float]:
    """A time in steps as the last whole step and the fraction after it."""
    step = int(time + 1e-9)
    return step, max(0.0, time - step)


def caption(seconds: float, descriptor: Floats, space: Descriptor) -> str:
    """The time, and the descriptor of the episode so far where there is one."""
    values = zip(space.names, descriptor.tolist(), strict=True)
    return "\n".join([f"{seconds:.2f} s", *(f"{name} {value:.2f}" for name, value in values if np.isfinite(value))])


def with_caption(picture: Picture, text: str) -> Picture:
    """The picture with lines of text in its lower left corner, white with a dark outline."""
    image = Image.fromarray(picture)
    size = max(12, image.height // 28)
    font, place = ImageFont.load_default(size), (size * 0.8, image.height - size * 0.7)
    ImageDraw.Draw(image).multiline_text(
        place, text, fill="white", font=font, anchor="ld", spacing=size // 4, stroke_width=1, stroke_fill="#26303a"
    )
    return np.asarray(image)


def resized(picture: Picture, width: int, height: int) -> Picture:
    if picture.shape[:2] == (height, width):
        return picture
    return np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.LANCZOS))


def side_by_side(pictures: list[Picture]) -> Picture:
    gap = np.full((pictures[0].shape[0], GAP, 3), 255, np.uint8)
    parts = [part for picture in pictures for part in (gap, picture)][1:]
    return np.concatenate(parts, axis=1)
