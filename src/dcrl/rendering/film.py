"""The moments of a motion as pictures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from dcrl.rendering.drawing import Studio, followed
from dcrl.rendering.motion import Motion
from dcrl.types import Descriptor, Floats

Picture = NDArray[np.uint8]  # (height, width, 3)


def moments(motion: Motion, fps: float, speed: float, seconds: float = np.inf) -> Floats:
    """When to look, in steps and parts of them: `fps` pictures a second, `speed` times as fast as life.

    Of a motion longer than `seconds`, only that much is seen.
    """
    count = int(min(motion.seconds, seconds) / speed * fps + 1e-9) + 1
    times: Floats = np.minimum(np.arange(count) * speed / fps / motion.period, motion.steps)
    return times


def spread(motion: Motion, count: int, seconds: float = np.inf) -> Floats:
    """`count` whole steps evenly spread from the first state to the last, or to that after `seconds`."""
    return np.round(np.linspace(0, min(motion.steps, seconds / motion.period), count))


def pictures(studio: Studio, motion: Motion, times: Floats, space: Descriptor | None = None) -> Iterator[Picture]:
    """One a time, in steps; between two states the robot is drawn between them, so that slow robots move smoothly.

    With `space`, each says its time and the descriptor so far.
    """
    view, look = studio.view(motion.qpos, motion.path), followed(motion.path, motion.period)
    for time in times.tolist():
        step = int(time + 1e-9)
        share, after = max(0.0, time - step), min(step + 1, motion.steps)
        qpos = studio.between(motion.qpos[step], motion.qpos[after], share)
        looked_at, head = ((1 - share) * way[step] + share * way[after] for way in (look, motion.path))
        way = np.concatenate([motion.path[: step + 1], head[None]])
        picture = studio.picture(qpos, looked_at, view, way)
        yield picture if space is None else captioned(picture, caption(motion, time, space))


def caption(motion: Motion, time: float, space: Descriptor) -> str:
    values = zip(space.names, motion.descriptor_so_far[int(time + 1e-9)].tolist(), strict=True)
    return "\n".join([f"{time * motion.period:.2f} s", *(f"{name} {value:.2f}" for name, value in values)])


def captioned(picture: Picture, text: str) -> Picture:
    """The picture with some lines in its lower left corner, dark around, to be read on any ground."""
    image = Image.fromarray(picture)
    size = max(12, image.height // 28)
    font, place = ImageFont.load_default(size), (size * 0.8, image.height - size * 0.7)
    ImageDraw.Draw(image).multiline_text(
        place, text, fill="white", font=font, anchor="ld", spacing=size // 4, stroke_width=1, stroke_fill="#26303a"
    )
    return np.asarray(image)


def strip(shown: list[Picture]) -> Picture:
    """Side by side, with a thin gap between."""
    gap = np.full((shown[0].shape[0], 4, 3), 255, np.uint8)
    parts = [part for picture in shown for part in (gap, picture)][1:]
    return np.concatenate(parts, axis=1)
