"""One robot stepped action by action, with exactly the numbers of the `mujoco` simulator."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from dcrl.simulators.mujoco import STAGE, start_states
from dcrl.simulators.stability import is_stable
from dcrl.tasks.engine import Batch, SimulationError, mujoco
from dcrl.tasks.task import Task
from dcrl.types import Floats, Physics


@dataclass(frozen=True, kw_only=True)
class State:
    """The result of a step: observation, reward, termination, step descriptor, and whether physics is stable."""

    observation: Floats  # (O,) float32
    reward: float
    terminated: bool
    step_descriptor: Floats  # (D,), as the task computes it
    valid: bool


class Stepper:
    """Owns one simulation."""

    def __init__(self, task: Task) -> None:
        self.task, self.model = task, task.model
        self.time = 0
        self._batch = Batch(task.model, 1, 1, persistent=True)
        self._bound = {field: self._batch.bind(field) for field in task.fields}
        self._control = self._batch.bind("ctrl")
        self._before = self._read()

    def start(self, keys: jax.Array) -> State:
        """Reset the robot to the start state of the only one of `keys` (1,)."""
        qpos, qvel = start_states(self.task, keys)
        self.time = 0
        self._batch.reset(stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self._bound["qpos"][:] = qpos
        self._bound["qvel"][:] = qvel
        failed = False
        try:
            self._batch.forward(stage=STAGE)
        except SimulationError:
            failed = True
        self._before = self._read()
        return self._state(self._before, np.zeros(1), failed=failed)

    def step(self, action: Floats) -> State:
        """One control step; `action` (A,) float32 in [-1, 1] spans the control ranges."""
        centre, half = self.task.control_range
        control = centre + half * action[None]
        self._control[:] = control
        failed = False
        try:
            self._batch.step(None, self.task.integration.substeps, STAGE)
        except SimulationError:
            failed = True
        self.time += 1
        before, self._before = self._before, self._read()
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged simulation is an outcome, not a warning
            return self._state(self._before, self.task.reward(before, control, self._before), failed=failed)

    @property
    def physics(self) -> Physics:
        """The present state, with one row in every field."""
        return self._before

    def data(self) -> mujoco.MjData:
        """The present state as an MjData, for rendering."""
        data = self._batch.get_data(0)
        mujoco.mj_forward(self.model, data)
        return data

    def _read(self) -> Physics:
        horizon = self.task.horizon
        fields = {name: values.copy() for name, values in self._bound.items()}
        return Physics(np, self.task.integration.period, np.array([(horizon - self.time) / horizon]), fields)

    def _state(self, physics: Physics, reward: Floats, *, failed: bool) -> State:
        task = self.task
        observation, descriptor = task.observe(physics).astype(np.float32), task.step_descriptor(physics)
        return State(
            observation=observation[0],
            reward=float(reward[0]),
            terminated=bool(task.terminated(physics)[0]),
            step_descriptor=np.array(descriptor[0], np.float64),
            valid=bool(is_stable(physics, reward, observation, descriptor)[0]) and not failed,
        )
