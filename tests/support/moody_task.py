"""Gymnasium environments that workers cannot play: one that belongs to the process of the tests, one that fails."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np

import dcrl
from support.square import Square

os.environ.setdefault("DCRL_TESTS_OWNER", str(os.getpid()))


class Bound(Square):
    """An environment of one process, like one that holds a device."""

    def __init__(self) -> None:
        super().__init__()
        if os.environ["DCRL_TESTS_OWNER"] != str(os.getpid()):
            raise RuntimeError("the device is in use")


class Failing(Square):
    """It divides by zero at its first step."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return super().step(action * (1 // int(0 * self._x)))


for name, kind in (("tests/Bound-v0", Bound), ("tests/Failing-v0", Failing)):
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=kind, max_episode_steps=3)


def _task(name: str) -> dcrl.GymnasiumTask:
    return dcrl.GymnasiumTask(
        name=name.lower(),
        summary="",
        environment=f"tests/{name}-v0",
        descriptor=dcrl.Descriptor(names=("x",), unit="m", low=(-1.0,), high=(1.0,), over="last"),
        step_descriptor=dcrl.from_info("x"),
    )


bound, failing = _task("Bound"), _task("Failing")
