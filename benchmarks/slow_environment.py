"""A Gymnasium task that takes 5 ms per step: a point that a policy pushes along a line."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np

import dcrl

SECONDS = 0.005


class Slow(gymnasium.Env[np.ndarray, np.ndarray]):
    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._state = np.array([self.np_random.uniform(-0.1, 0.1), 0.0])
        return self._state.astype(np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        time.sleep(SECONDS)
        self._state = self._state + 0.1 * np.array([self._state[1], float(action[0])])
        return self._state.astype(np.float32), 1.0, bool(abs(self._state[0]) > 1), False, {}


if "benchmarks/Slow-v0" not in gymnasium.registry:
    gymnasium.register("benchmarks/Slow-v0", entry_point=Slow, max_episode_steps=20)


def position_and_velocity(observations: np.ndarray, infos: object) -> np.ndarray:
    return observations


task = dcrl.GymnasiumTask(
    name="slow_point",
    summary="a point on a line, 5 ms per step",
    environment="benchmarks/Slow-v0",
    descriptor=dcrl.Descriptor(
        names=("x", "velocity"), unit="m, m/s", low=(-2.0, -2.0), high=(2.0, 2.0), over="last", clip=True
    ),
    step_descriptor=position_and_velocity,
)
