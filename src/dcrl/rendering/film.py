"""The moments of a motion as pictures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from dcrl.motion import Motion
from dcrl.simulators.drawing import Studio, followed
from dcrl.types import Descriptor, Ints

Picture = NDArray[np.uint8]  # (height, width, 3)


def moments(motion: Motion, fps: float, speed: float) -> Ints:
    """The steps to show, from the first state on, at `fps` pictures a second and `speed` times as fast as life."""
    count = int(motion.seconds / speed * fps + 1e-9) + 1
    shown = np.round(np.arange(count) * speed / fps / motion.period).astype(int)
    kept: Ints = np.minimum(shown, motion.steps)
    return kept


def spread(motion: Motion, count: int) -> Ints:
    """`count` steps evenly spread from the first state to the last."""
    return np.round(np.linspace(0, motion.steps, count)).astype(int)


def pictures(studio: Studio, motion: Motion, steps: Ints, space: Descriptor | None = None) -> Iterator[Picture]:
    """One a step; with `space`, each says its time and the descriptor so far."""
    view, look = studio.view(motion.qpos, motion.path), followed(motion.path, motion.period)
    for step in steps.tolist():
        picture = studio.picture(motion.qpos[step], look[step], view, motion.path[: step + 1])
        yield picture if space is None else captioned(picture, caption(motion, step, space))


def caption(motion: Motion, step: int, space: Descriptor) -> str:
    values = zip(space.names, motion.descriptor_so_far[step].tolist(), strict=True)
    return "\n".join([f"{step * motion.period:.2f} s", *(f"{name} {value:.2f}" for name, value in values)])


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
