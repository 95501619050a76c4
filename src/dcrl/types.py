"""The values that cross module boundaries.

Array shapes are written with fixed letters: B batch, T time (the horizon), C cells, D descriptor,
O observation, A action, P parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcrl.hyperparameters import make_plain

Array: TypeAlias = Any  # NumPy or JAX: a task's functions run on both, the simulator decides
Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """The space of behaviours: one name and one pair of bounds per dimension, and a unit.

    `over` says how an episode's descriptor is computed from its step descriptors: their "mean" over the
    simulated steps, or the "last" one. Values outside the bounds are clipped if `clip` is set and are an
    error otherwise.
    """

    names: tuple[str, ...]
    unit: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    over: Literal["mean", "last"]
    clip: bool = False

    def __post_init__(self) -> None:
        make_plain(self, "names", "low", "high")
        sizes = {len(self.names), len(self.low), len(self.high)}
        if len(sizes) != 1 or not self.names:
            raise ValueError(
                f"a descriptor needs one name, one low and one high per dimension, got {len(self.names)}, "
                f"{len(self.low)} and {len(self.high)}"
            )
        if not all(lo < hi and np.isfinite(hi - lo) for lo, hi in zip(self.low, self.high, strict=True)):
            raise ValueError(f"descriptor bounds must be finite with low < high, got {self.low} and {self.high}")
        if self.over not in ("mean", "last"):
            raise ValueError(f"a descriptor is taken over the episode as 'mean' or 'last', got {self.over!r}")

    @property
    def size(self) -> int:
        """The number of dimensions, D."""
        return len(self.names)


class Physics:
    """The physics state a task sees: MjData's fields by name, with any leading axes.

    `xp` is the array module (NumPy or jax.numpy) to compute with, `period` the control period in
    seconds, `remaining` the share of the episode that is left (1 at the start). `qpos`, `qvel` and
    `sensordata` are always available; a task lists any other MjData field it reads in `Task.reads`.
    """

    __slots__ = ("_fields", "period", "remaining", "xp")

    def __init__(self, xp: ModuleType, period: float, remaining: Array, fields: dict[str, Array]) -> None:
        self.xp = xp
        self.period = period
        self.remaining = remaining
        self._fields = fields

    def __getattr__(self, name: str) -> Array:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(
                f"the physics state has {', '.join(self._fields)} but not {name!r}; "
                f"name it in the task's `reads` if it is a field of MjData"
            ) from None


@dataclass(frozen=True, kw_only=True)
class Transitions:
    """The transitions of a batch of episodes. Observations are stored once: row t + 1 follows row t.

    Rows from `steps[b]` on (`steps[b] + 1` for observations and state descriptors) were never simulated
    and are undefined. `terminated` is termination, not truncation at the horizon.
    """

    observation: Floats  # (B, T + 1, O) float32
    action: Floats  # (B, T, A) float32, the policy's output in [-1, 1]
    reward: Floats  # (B, T) float32
    state_descriptor: Floats  # (B, T + 1, D) float32
    steps: Ints  # (B,)
    terminated: Bools  # (B,)

    @property
    def simulated(self) -> Bools:
        """(B, T), true for the transitions that were simulated."""
        mask: Bools = np.arange(self.reward.shape[1]) < self.steps[:, None]
        return mask


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The results of a batch of policies, one episode each.

    An invalid evaluation (the simulation diverged, or the policy is not finite) has fitness and
    descriptor NaN and no transitions.
    """

    fitness: Floats  # (B,) float32, the sum of rewards
    descriptor: Floats  # (B, D) float32
    steps: Ints  # (B,) int32, simulated control steps
    valid: Bools  # (B,)
    transitions: Transitions | None = None  # None unless recorded
