"""A Gymnasium environment that is quick to render: a red square that a policy pushes along a white picture."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium
import numpy as np

import dcrl

HEIGHT, WIDTH, FPS = 24, 40, 10
STEPS = 12


class Square(gymnasium.Env[np.ndarray, np.ndarray]):
    """It starts at a random x in [-0.1, 0.1], is pushed by up to 0.1 per step, and terminates beyond x = 0.9."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FPS}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-0.1, 0.1, (1,), np.float32)

    def __init__(self, render_mode: str | None = None, picture: Any = "square") -> None:
        self.render_mode, self._picture = render_mode, picture

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._x = self.np_random.uniform(-0.1, 0.1)
        return self._observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        self._x = float(np.clip(self._x + action[0], -1, 1))
        return self._observation(), 1 - abs(float(action[0])), self._x > 0.9, False, {"x": self._x}

    def render(self) -> Any:
        if not isinstance(self._picture, str):
            return self._picture
        picture = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        middle = round((self._x + 1) / 2 * WIDTH)
        picture[8:16, max(0, middle - 4) : middle + 4] = 255, 0, 0
        return picture

    def _observation(self) -> np.ndarray:
        return np.array([self._x], np.float32)


class Unseen(Square):
    """The same, without a render mode."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012


for name, kind in (("tests/Square-v0", Square), ("tests/Unseen-v0", Unseen)):
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=kind, max_episode_steps=STEPS)

task = dcrl.GymnasiumTask(
    name="square",
    summary="a red square",
    environment="tests/Square-v0",
    descriptor=dcrl.Descriptor(names=("x",), unit="m", low=(-1.0,), high=(1.0,), over="last"),
    step_descriptor=dcrl.from_info("x"),
)

unseen_task = dataclasses.replace(task, name="unseen", environment="tests/Unseen-v0")


def pushing(push: float) -> np.ndarray:
    """The genotype, of no hidden layer, that always pushes with this action in (-1, 1)."""
    return np.array([0, np.arctanh(push)], np.float32)
