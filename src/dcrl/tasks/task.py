"""The contract of a task: a robot, and pure functions of its physics state.

Every function but `start` takes states with any leading axes and computes with `physics.xp`, so the
same lines serve the C simulator (NumPy, a batch) and MJX (JAX, traced). No task depends on which one runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import jax
import numpy as np

from dcrl.hyperparameters import is_whole, make_plain
from dcrl.tasks.engine import mujoco
from dcrl.tasks.naming import checked_name
from dcrl.types import Array, Descriptor, Floats, Physics

Integrator = Literal["Euler", "RK4", "implicit", "implicitfast"]
Solver = Literal["Newton", "CG", "PGS"]

Start: TypeAlias = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]

_INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
_SOLVERS = {
    "Newton": mujoco.mjtSolver.mjSOL_NEWTON,
    "CG": mujoco.mjtSolver.mjSOL_CG,
    "PGS": mujoco.mjtSolver.mjSOL_PGS,
}


@dataclass(frozen=True, kw_only=True)
class Integration:
    """How physics is stepped: one control period has `substeps` steps of `timestep` seconds."""

    timestep: float
    substeps: int
    integrator: Integrator = "implicitfast"
    solver: Solver = "Newton"

    def __post_init__(self) -> None:
        make_plain(self, "timestep", "substeps")
        if not (self.timestep > 0 and is_whole(self.substeps) and self.substeps >= 1):
            raise ValueError(
                f"physics needs a timestep above 0 s and a whole number of substeps, got {self.timestep} and "
                f"{self.substeps}"
            )
        if self.integrator not in get_args(Integrator) or self.solver not in get_args(Solver):
            raise ValueError(
                f"the integrator is one of {', '.join(get_args(Integrator))} and the solver one of "
                f"{', '.join(get_args(Solver))}, got {self.integrator} and {self.solver}"
            )

    @property
    def period(self) -> float:
        """The control period in seconds."""
        return self.timestep * self.substeps


@dataclass(frozen=True, kw_only=True)
class Task:
    """A robot and its task.

    robot            builds the model; contact sensors and scenery are added there
    start            (key, qpos0, qvel0) -> (qpos, qvel) of one episode, in JAX
    observe          physics -> (..., O), what the policy sees
    reward           (before, control, after) -> (...), never negative
    terminated       physics -> (...) bool, termination such as a fall; the horizon is truncation
    step_descriptor  physics -> (..., D), taken over the episode as `descriptor.over` says
    descriptor_from_observation
                     observation -> (..., D), the step descriptor where observations contain it, to save memory
    """

    name: str
    summary: str
    horizon: int
    observations: tuple[str, ...]  # what each observation is, in order, with its unit
    actions: tuple[str, ...]  # the actuators in order; actions in [-1, 1] span their control ranges
    descriptor: Descriptor
    integration: Integration
    robot: Callable[[], mujoco.MjSpec]
    start: Start
    observe: Callable[[Physics], Array]
    reward: Callable[[Physics, Array, Physics], Array]
    terminated: Callable[[Physics], Array]
    step_descriptor: Callable[[Physics], Array]
    descriptor_from_observation: Callable[[Array], Array] | None = None
    reads: tuple[str, ...] = ()  # MjData fields besides qpos, qvel and sensordata

    def __post_init__(self) -> None:
        checked_name(self.name)
        make_plain(self, "horizon")
        if not is_whole(self.horizon) or self.horizon < 1:
            raise ValueError(f"task {self.name}: the horizon must be a whole number of steps, got {self.horizon!r}")
        if not self.observations or not self.actions:
            raise ValueError(f"task {self.name}: it needs at least one observation and one action")

    @property
    def observation_size(self) -> int:
        """The number of observations, O."""
        return len(self.observations)

    @property
    def action_size(self) -> int:
        """The number of actions, A."""
        return len(self.actions)

    @property
    def fields(self) -> tuple[str, ...]:
        """The MjData fields that a simulator passes to this task."""
        return ("qpos", "qvel", "sensordata", *self.reads)

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The robot compiled with this task's integration.

        Divergence stays visible as NaN (automatic resets are off), as it does in MJX.
        """
        try:
            spec = self.robot()
        except (ValueError, OSError) as error:
            raise ValueError(f"task {self.name}: MuJoCo cannot read its model: {error}") from None
        if not isinstance(spec, mujoco.MjSpec):
            raise ValueError(f"task {self.name}: robot must return a mujoco.MjSpec, got a {type(spec).__name__}")
        spec.option.timestep = self.integration.timestep
        spec.option.integrator = _INTEGRATORS[self.integration.integrator]
        spec.option.solver = _SOLVERS[self.integration.solver]
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        try:
            with warnings.catch_warnings():  # Gymnasium's cheetah uses it; users cannot change that
                warnings.filterwarnings("ignore", "compiler attribute 'settotalmass' is deprecated", UserWarning)
                model = spec.compile()
        except ValueError as error:
            raise ValueError(f"task {self.name}: MuJoCo cannot compile its model: {error}") from None
        if model.nu != self.action_size:
            raise ValueError(
                f"task {self.name} names {self.action_size} actions but its model has {model.nu} actuators"
            )
        return model

    @cached_property
    def control_range(self) -> tuple[Floats, Floats]:
        """Centre and half width (A,) of the actuators' control ranges; an unlimited actuator gets +-1."""
        limited = self.model.actuator_ctrllimited.astype(bool)
        low, high = np.where(limited[:, None], self.model.actuator_ctrlrange, [-1.0, 1.0]).T
        return (low + high) / 2, (high - low) / 2
