"""Checks on one function of a task: the right shape on any leading axes, and equal values for equal states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

from dcrl.check.findings import FaultError, Note
from dcrl.tasks.task import Task
from dcrl.types import Array, Physics


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Some control steps, as a reward sees them.

    `before` and `after` are MjData's fields, and `remaining`, by name; every array has the same leading axes.
    """

    period: float  # seconds
    before: dict[str, Array]
    control: Array  # (..., A)
    after: dict[str, Array]

    def seen(self, xp: ModuleType = np) -> tuple[Physics, Array, Physics]:
        """The arguments of a task's function."""
        return self._physics(xp, self.before), self.control, self._physics(xp, self.after)

    def map(self, change: Callable[[Array], Array]) -> Sample:
        """The sample with every array changed alike."""
        before, control, after = jax.tree.map(change, (self.before, self.control, self.after))
        return Sample(period=self.period, before=before, control=control, after=after)

    def _physics(self, xp: ModuleType, state: dict[str, Array]) -> Physics:
        fields = {name: values for name, values in state.items() if name != "remaining"}
        return Physics(xp, self.period, state["remaining"], fields)


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function of a task, called on a sample, and what it must return."""

    name: str
    call: Callable[[Physics, Array, Physics], Array]  # (before, control, after)
    labels: tuple[str, ...] | None  # one per column; None for one value per state
    kind: type = float

    @property
    def size(self) -> tuple[int, ...]:
        return () if self.labels is None else (len(self.labels),)


def functions_of(task: Task) -> tuple[Function, ...]:
    """The functions that a simulator calls at every step."""
    names, descriptor = task.observations, task.descriptor.names
    return (
        Function(name="observe", call=lambda before, control, after: task.observe(after), labels=names),
        Function(name="reward", call=task.reward, labels=None),
        Function(name="terminated", call=lambda before, control, after: task.terminated(after), labels=None, kind=bool),
        Function(
            name="step_descriptor", call=lambda before, control, after: task.step_descriptor(after), labels=descriptor
        ),
    )


def check_function(function: Function, sample: Sample) -> str:
    """Check one function on a batch of states, on each of them alone, and on two leading axes."""
    name, count = function.name, len(sample.control)
    batch = _called(function, sample, (count,))
    _check_values(function, batch)
    if not np.array_equal(batch, _called(function, sample, (count,))):
        raise FaultError(
            f"{name} returns different values for the same states when called again; it must not be random"
        )
    alone = [_called(function, sample.map(itemgetter(row)), ()) for row in range(count)]
    if not np.allclose(batch, alone, rtol=1e-6, atol=1e-9):
        raise FaultError(
            f"{name} returns different values for a batch of states than for each state alone; it must treat states "
            "independently"
        )
    pairs = (2, count // 2)
    folded = _called(function, sample.map(lambda values: values.reshape(*pairs, *values.shape[1:])), pairs)
    if not np.allclose(batch, folded.reshape(batch.shape), rtol=1e-6, atol=1e-9):
        raise FaultError(
            f"{name} returns different values for states on two leading axes than on one; index with `[..., i]`"
        )
    return f"returns {_shape(function)} {function.kind.__name__}, the same one by one and in a batch"


def trace(functions: tuple[Function, ...], sample: Sample) -> str | Note:
    """Whether JAX can trace the functions, on single states as MJX calls them."""
    single = sample.map(itemgetter(0))
    for function in functions:

        def traced(
            before: dict[str, Array], control: Array, after: dict[str, Array], function: Function = function
        ) -> Array:
            state = Sample(period=single.period, before=before, control=control, after=after)
            return jnp.asarray(function.call(*state.seen(jnp)))

        try:
            shape = jax.eval_shape(traced, single.before, single.control, single.after).shape
        except Exception as error:
            return Note(f"the task runs on mujoco but not on mjx, where JAX must trace its functions: {error}")
        if shape != function.size:
            return Note(f"the task runs on mujoco but not on mjx: traced by JAX, {function.name} returns shape {shape}")
    return "JAX can trace its functions, as mjx needs"


def _called(function: Function, sample: Sample, leading: tuple[int, ...]) -> Array:
    """The function's value, of the right shape and type, on a sample with these leading axes."""
    try:
        values = function.call(*sample.seen())
    except FaultError as fault:
        axes = f"states with leading axes {leading}" if leading else "one state without leading axes"
        raise FaultError(f"on {axes}, {fault}") from fault
    if not isinstance(values, np.ndarray | np.generic):
        raise FaultError(
            f"{function.name} must return an array computed with `physics.xp`, got {type(values).__name__}"
        )
    expected = (*leading, *function.size)
    if values.shape != expected:
        what = f", one value for each of {', '.join(map(repr, function.labels))}" if function.labels else ""
        raise FaultError(
            f"{function.name} must return shape {_shape(function)}{what if len(what) < 200 else ''}; for states "
            f"with leading axes {leading} that is {expected}, got {values.shape}"
        )
    if (values.dtype == bool) != (function.kind is bool) or values.dtype.kind not in "bfiu":
        raise FaultError(f"{function.name} must return {function.kind.__name__} values, got {values.dtype}")
    return np.asarray(values)


def _check_values(function: Function, values: Array) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = f" in column {bad[0][-1]} ({function.labels[bad[0][-1]]!r})" if function.labels else ""
        raise FaultError(f"{function.name} returns {values[tuple(bad[0])]}{where} a few steps after the start")
    if function.name == "reward" and values.min() < 0:
        raise FaultError(f"reward must never be negative, got {values.min():g}; add an offset or clip it at 0")


def _shape(function: Function) -> str:
    return f"({', '.join(['...', *map(str, function.size)])})"
