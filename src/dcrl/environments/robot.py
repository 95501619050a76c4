"""A robot's task as a Gymnasium environment, such as `dcrl/AntOmni-v0`.

An episode equals the rollout of the same actions from the same seed, bit for bit:
`reset(seed=s)` starts where `dcrl.rollout(task, genotypes, seed=s)` does.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dcrl.rendering import camera
from dcrl.simulators.rollouts import start_keys
from dcrl.simulators.stepping import State, Stepper
from dcrl.tasks import registry
from dcrl.tasks.task import Task
from dcrl.types import Floats


class RobotEnvironment(gymnasium.Env[Floats, Floats]):
    """A robot's task, given by its name or as an object, one step at a time.

    Actions in [-1, 1] are scaled to the actuators' control ranges. After reset and every step, `info` has
    `step_descriptor` (D,), whose mean or last value is the episode's descriptor (`task.descriptor.over`), and
    `valid`, which is False if the simulation diverged. Such an episode is truncated, with reward 0 and the
    last valid observation. The render mode `rgb_array` needs OpenGL.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012, Gymnasium's name

    def __init__(
        self, task: str | registry.AnyTask, render_mode: str | None = None, width: int = 480, height: int = 480
    ) -> None:
        found = registry.get(task)
        if not isinstance(found, Task):
            raise ValueError(
                f"task {found.name} is already a Gymnasium environment: gymnasium.make({found.environment!r})"
            )
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"the render mode is None or 'rgb_array', got {render_mode!r}")
        if render_mode and not camera.available():
            raise RuntimeError(f"this machine cannot render: {camera.HELP}")
        self.task, self.render_mode = found, render_mode
        self.metadata = {
            "render_modes": ["rgb_array"] if camera.available() else [],
            "render_fps": round(1 / found.integration.period),
        }
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (found.observation_size,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (found.action_size,), np.float32)
        self._stepper = Stepper(found)
        self._size = width, height
        self._camera: camera.Camera | None = None
        self._ended = True
        self._observation: Floats = np.zeros(found.observation_size, np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start an episode; the same seed gives the same start."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**32)) if seed is None else seed % 2**32
        self._ended = False
        state = self._stepper.start(start_keys(chosen, 1))
        self._observation = state.observation
        return state.observation.copy(), _info(state)

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Play one control period; `info` has the step descriptor and whether the simulation is valid."""
        bounded = np.clip(np.asarray(action, np.float32), -1, 1)
        if bounded.shape != self.action_space.shape:
            raise ValueError(f"an action of {self.task.name} has shape {self.action_space.shape}, got {bounded.shape}")
        if not np.isfinite(bounded).all():
            raise ValueError(f"an action of {self.task.name} must be finite, got {bounded.tolist()}")
        if self._ended:
            raise gymnasium.error.ResetNeeded("the episode has ended or not begun: call reset first")
        state = self._stepper.step(bounded)
        truncated = self._stepper.time >= self.task.horizon
        self._ended = truncated or state.terminated or not state.valid
        if not state.valid:
            return self._observation.copy(), 0.0, False, True, _info(state)
        self._observation = state.observation
        return state.observation.copy(), state.reward, state.terminated, truncated, _info(state)

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of the current state, (height, width, 3), if the render mode is `rgb_array`."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs an environment made with render_mode='rgb_array'")
            return None
        if self._camera is None:
            self._camera = camera.Camera(self._stepper.model, *self._size)
        return self._camera.picture(self._stepper.data())

    def close(self) -> None:
        """Release the camera."""
        if self._camera is not None:
            self._camera.close()
        self._camera = None


def _info(state: State) -> dict[str, Any]:
    return {"step_descriptor": state.step_descriptor.astype(np.float32), "valid": state.valid}
