"""Episodes in a Gymnasium environment as messages for the player: its pictures, where it renders any."""

from __future__ import annotations

import base64
from contextlib import closing
from typing import Any

import numpy as np

from dcrl.explorer.wire import packed
from dcrl.rendering.encoding import jpeg
from dcrl.rendering.episodes import environment_outcome
from dcrl.rendering.frames import Frame, check_renders, episode_frames
from dcrl.repertoires.policy import Policy
from dcrl.tasks.gymnasium import GymnasiumTask

MOST_PICTURES = 300  # of an episode
LARGEST = 480  # pixels, of a picture's longer side


def pictured(task: GymnasiumTask, policy: Policy, seed: int) -> dict[str, Any]:
    """Every so many steps a picture, and the last one; without pictures, why there are none."""
    unseen = ""
    try:
        check_renders(task)
    except ValueError as error:
        unseen = str(error)
    kept: list[Frame] = []
    pictures: list[str] = []
    stride = -(-task.horizon // MOST_PICTURES)
    hidden = policy.layers.sizes[1:-1]
    with closing(episode_frames(task, policy.genotype, seed, hidden=hidden, rendered=not unseen)) as frames:
        for frame in frames:
            last = frame.terminated or not frame.valid or frame.step == task.horizon
            if frame.step % stride == 0 or last:
                kept.append(frame)
                pictures += [] if unseen else [base64.b64encode(jpeg(frame.render(), LARGEST)).decode()]
    if frame is not kept[-1]:  # the environment truncated the episode between two pictures
        kept.append(frame)
        pictures += pictures[-1:]
    outcome = environment_outcome(task, frame)
    endings = {True: "it terminated", False: "the episode is over"}
    return {
        "period": outcome.period,
        "fitness": outcome.fitness if outcome.valid else None,
        "descriptor": [float(d) for d in outcome.descriptor] if outcome.valid else None,
        "ending": endings[outcome.terminated] if outcome.valid else "the simulation diverged",
        "feet": [],
        **({"unseen": f"{unseen[:1].upper()}{unseen[1:]}."} if unseen else {"pictures": pictures}),
        "step": packed([each.step for each in kept], "<i4"),
        "earned": packed([each.fitness for each in kept], "<f8"),
        "reached": packed(np.array([each.descriptor for each in kept]), "<f4"),
    }
