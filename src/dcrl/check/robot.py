"""Checks on a task with a MuJoCo model: the model, the start, and each function on a few real states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys
from dcrl.check.episodes import check_episodes
from dcrl.check.findings import FaultError, Finding, Note, find, guard
from dcrl.check.functions import Sample, check_function, functions_of, trace
from dcrl.tasks.engine import DATA_FIELDS, Batch, mujoco
from dcrl.tasks.task import Task
from dcrl.types import Array

STATES = 6  # in a sample: 2 x 3, and no likely size of anything else
STEPS = 10  # control steps of random actions before the sample is taken
STAGE = int(mujoco.mjtStage.mjSTAGE_VEL)

Starts: TypeAlias = Callable[[jax.Array], tuple[jax.Array, jax.Array]]


def check_robot(findings: list[Finding], task: Task) -> None:
    """Add every finding about a task; a check is skipped if one that it depends on failed."""
    task = dataclasses.replace(
        task,
        robot=guard("robot", task.robot),
        start=guard("start", task.start),
        observe=guard("observe", task.observe),
        reward=guard("reward", task.reward),
        terminated=guard("terminated", task.terminated),
        step_descriptor=guard("step_descriptor", task.step_descriptor),
    )
    if not (find(findings, "model", lambda: _model(task)) and find(findings, "reads", lambda: _reads(task))):
        return
    starts = _starts(task)
    if not find(findings, "start", lambda: _start(task, starts)):
        return
    find(findings, "control ranges", lambda: _control_ranges(task))
    first, sample = _sample(task, starts)
    functions = functions_of(task)
    passed = [find(findings, each.name, partial(check_function, each, sample)) for each in functions]
    if not all(passed):
        return
    find(findings, "jax", lambda: trace(functions, sample))
    if find(findings, "first state", lambda: _first_state(task, first)):
        check_episodes(findings, task)


def _model(task: Task) -> str:
    built = task.robot()
    if not isinstance(built, mujoco.MjSpec):
        raise FaultError(f"robot must return a mujoco.MjSpec, got {type(built).__name__}")
    model, way = task.model, task.integration
    named = [(model.actuator(i).name or name, name) for i, name in enumerate(task.actions)]
    if {own for own, _ in named} == set(task.actions) and any(own != name for own, name in named):
        raise FaultError(f"`actions` must follow the model's actuators, which are {', '.join(own for own, _ in named)}")
    return (
        f"it compiles: {model.nq} positions, {model.nv} velocities, {model.nu} actuators, {model.nsensordata} sensor "
        f"values; {way.substeps} substeps of {way.timestep:g} s per control step"
    )


def _reads(task: Task) -> str:
    unknown = [name for name in task.reads if name not in DATA_FIELDS]
    if unknown:
        raise FaultError(f"`reads` must name fields of MjData that can be read in a batch, got {', '.join(unknown)}")
    return f"its functions read {', '.join(task.fields)}"


def _start(task: Task, starts: Starts) -> str:
    data, key = mujoco.MjData(task.model), keys.root(0)
    traces = [jax.make_jaxpr(lambda *state: task.start(*state))(key, data.qpos, data.qvel) for _ in range(2)]
    if str(traces[0]) != str(traces[1]) or not all(map(np.array_equal, *(trace.consts for trace in traces))):
        raise FaultError("start differs when called again; draw all randomness from the key, with jax.random")
    started = starts(keys.each(key, STATES))
    if not isinstance(started, tuple) or len(started) != 2:
        raise FaultError(f"start must return the pair (qpos, qvel), got {type(started).__name__}")
    for name, got, expected in zip(("qpos", "qvel"), started, (data.qpos, data.qvel), strict=True):
        if got.shape != (STATES, *expected.shape):
            raise FaultError(f"start must return a {name} of shape {expected.shape}, got {got.shape[1:]}")
        if not np.isfinite(got).all():
            raise FaultError(f"start returns NaN or infinity in {name}")
    return "a key determines the start state, which is finite and of the model's shape"


def _control_ranges(task: Task) -> str | Note:
    centre, half = task.control_range
    empty = [name for name, width in zip(task.actions, half, strict=True) if not (np.isfinite(width) and width > 0)]
    if empty:
        raise FaultError(f"a control range must be finite and not empty, which is not so for {', '.join(empty)}")
    free = [name for name, limited in zip(task.actions, task.model.actuator_ctrllimited, strict=True) if not limited]
    if free:
        return Note(f"{', '.join(free)} has no control range in the model; actions will span -1 to 1 there")
    return f"actions span controls from {(centre - half).min():g} to {(centre + half).max():g}"


def _first_state(task: Task, first: Sample) -> str:
    dead = int(np.sum(task.terminated(first.seen()[0])))
    if dead:
        raise FaultError(
            f"terminated is already true at the start for {dead} of {STATES} keys; there would be nothing to learn"
        )
    return "no start state is terminated"


def _starts(task: Task) -> Starts:
    """Positions and velocities for an array of keys, compiled as the simulators do."""
    data = mujoco.MjData(task.model)
    return jax.jit(jax.vmap(lambda key: task.start(key, jnp.asarray(data.qpos), jnp.asarray(data.qvel))))


def _sample(task: Task, starts: Starts) -> tuple[Sample, Sample]:
    """The first and the last of a few control steps of random actions."""
    batch = Batch(task.model, STATES, 1, persistent=True)
    batch.reset()
    bound = {name: batch.bind(name) for name in task.fields}
    bound["qpos"][:], bound["qvel"][:] = starts(keys.each(keys.root(0), STATES))
    batch.forward(None, STAGE)

    def read(time: int) -> dict[str, Array]:
        share = np.full(STATES, (task.horizon - time) / task.horizon)
        return {name: _frozen(values) for name, values in (*bound.items(), ("remaining", share))}

    random = np.random.default_rng(0)
    centre, half = task.control_range
    samples, after = [], read(0)
    for time in range(min(STEPS, task.horizon)):
        before = after
        control = _frozen(centre + half * random.uniform(-1, 1, (STATES, task.action_size)))
        batch.bind("ctrl")[:] = control
        batch.step(None, task.integration.substeps, STAGE)
        after = read(time + 1)
        samples.append(Sample(period=task.integration.period, before=before, control=control, after=after))
    return samples[0], samples[-1]


def _frozen(values: Array) -> Array:
    """A copy that a function which writes into its arguments cannot change."""
    copy = np.array(values)
    copy.setflags(write=False)
    return copy
