"""The `mjx` simulator: JAX physics for accelerators, the whole rollout one `lax.scan`.

The same MJCF and the same task functions as `mujoco`, vectorised over the batch and sharded over the
devices. A scan has a fixed length: an episode that ended is masked, not skipped. Optional extra
`dcrl-map-elites[mjx]`.

One difference is MJX's own: where a capsule stands steeper than 60 degrees on a plane, it turns the
friction pyramid to the world's axes and C to the capsule's. An ant's legs do, so its episodes diverge
from those of `mujoco` at the first contact and agree only on average.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from mujoco import mjx

from dcrl.networks.perceptrons import act
from dcrl.networks.policies import Layers
from dcrl.simulators.simulator import Simulator, closed_error
from dcrl.simulators.stability import is_stable
from dcrl.tasks.task import Task
from dcrl.types import Array, Bools, Evaluation, Floats, Physics, Transitions


class MjxSimulator(Simulator):
    """Shards batches over the devices; a rollout is compiled once per batch size and network shape."""

    compiles = True
    overlap = False

    def __init__(self, task: Task) -> None:
        self.task = task
        auto = (jax.sharding.AxisType.Auto,)
        self._mesh = jax.make_mesh((jax.local_device_count(),), ("batch",), axis_types=auto)
        self._play: Callable[..., dict[str, jax.Array]] | None = _compiled(task)

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        if self._play is None:
            raise closed_error(self.task.name)
        count, devices = len(genotypes), self._mesh.size
        finite: Bools = np.asarray(np.isfinite(genotypes).all(axis=1))
        padding = np.arange(-count % devices)  # a batch is shared evenly among the devices
        rows = np.concatenate([np.arange(count), padding % count])
        sharding = jax.NamedSharding(self._mesh, jax.sharding.PartitionSpec("batch"))
        batch = jax.device_put((jnp.asarray(np.where(finite[:, None], genotypes, 0)[rows]), keys[rows]), sharding)
        out = jax.tree.map(lambda x: np.asarray(x)[:count], self._play(*batch, layers=layers, record=record))
        valid = out["valid"] & finite
        steps = np.where(finite, out["steps"], 0).astype(np.int32)
        transitions = None
        if record:
            transitions = Transitions(
                observation=out["observation"],
                action=out["action"],
                reward=out["reward"],
                state_descriptor=out["state_descriptor"],
                steps=np.where(valid, steps, 0),
                terminated=out["terminated"] & valid,
            )
        return Evaluation(
            fitness=np.where(valid, out["fitness"], np.nan).astype(np.float32),
            descriptor=np.where(valid[:, None], out["descriptor"], np.nan).astype(np.float32),
            steps=steps,
            valid=valid,
            transitions=transitions,
        )

    def close(self) -> None:
        self._play = None


@lru_cache(maxsize=4)  # compiled code, not a simulator: compiling takes minutes, once per task
def _compiled(task: Task) -> Callable[..., dict[str, jax.Array]]:
    return jax.jit(_Episodes(task).play, static_argnames=("layers", "record"))


class _Episodes:
    """What a rollout computes: the model on the device, and the episode as a scan."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._model = mjx.put_model(task.model)
        self._data = mjx.make_data(task.model)

    def play(self, genotypes: jax.Array, keys: jax.Array, *, layers: Layers, record: bool) -> dict[str, jax.Array]:
        return jax.vmap(lambda genotype, key: self._episode(genotype, key, layers, record))(genotypes, keys)

    def _physics(self, data: Any, time: jax.Array) -> Physics:
        task = self.task
        fields: dict[str, Array] = {name: _field(data, name) for name in task.fields}
        return Physics(jnp, task.integration.period, (task.horizon - time) / task.horizon, fields)

    def _refresh(self, data: Any) -> Any:
        """Positions, velocities and contacts of the new state, which `mjx.step` leaves one substep behind."""
        for stage in (mjx.fwd_position, mjx.sensor_pos, mjx.fwd_velocity, mjx.sensor_vel):
            data = stage(self._model, data)
        return data

    def _episode(self, genotype: jax.Array, key: jax.Array, layers: Layers, record: bool) -> dict[str, jax.Array]:
        task = self.task
        weights = layers.split(genotype)
        centre, half = (jnp.asarray(part, jnp.float32) for part in task.control_range)

        def step(carry: tuple[Any, ...], time: jax.Array) -> tuple[tuple[Any, ...], tuple[jax.Array, ...]]:
            data, observation, alive, valid, ended, total, descriptor, steps = carry
            action = act(weights, observation)
            control = centre + half * action
            before = self._physics(data, time)
            new = data.replace(ctrl=control)
            new = jax.lax.fori_loop(0, task.integration.substeps, lambda _, d: mjx.step(self._model, d), new)
            new = self._refresh(new)
            after = self._physics(new, time + 1)
            reward, seen = task.reward(before, control, after), task.observe(after)
            here = task.step_descriptor(after).astype(jnp.float32)
            finite = is_stable(after, reward, action, seen, here)
            fell = task.terminated(after)
            total = total + jnp.where(alive, reward, 0)
            over_mean = task.descriptor.over == "mean"
            descriptor = jnp.where(alive, descriptor + here if over_mean else here, descriptor)
            valid, ended = valid & (finite | ~alive), ended | (alive & fell & finite)
            steps = steps + alive
            still = alive & finite & ~fell
            # an ended simulation is frozen, so that it cannot diverge to NaN
            data = jax.tree.map(lambda a, b: jnp.where(still, a, b), new, data)
            observation = jnp.where(still, seen, observation)
            recorded = (action, reward, seen, here) if record else ()
            return (data, observation, still, valid, ended, total, descriptor, steps), recorded

        qpos, qvel = task.start(key, self._data.qpos, self._data.qvel)
        data = self._refresh(self._data.replace(qpos=qpos, qvel=qvel))
        first = self._physics(data, jnp.zeros((), jnp.int32))
        observation = task.observe(first).astype(jnp.float32)
        here = task.step_descriptor(first).astype(jnp.float32)
        yes, no = jnp.ones((), bool), jnp.zeros((), bool)
        carry = (data, observation, yes, yes, no, jnp.zeros(()), jnp.zeros_like(here), jnp.zeros((), jnp.int32))
        carry, rows = jax.lax.scan(step, carry, jnp.arange(task.horizon))
        _, _, _, valid, ended, total, descriptor, steps = carry
        if task.descriptor.over == "mean":
            descriptor = descriptor / jnp.maximum(steps, 1)
        out = {"fitness": total, "descriptor": descriptor, "steps": steps, "valid": valid, "terminated": ended}
        if record:
            action, reward, seen, state_descriptor = rows
            out |= {
                "action": action,
                "reward": reward,
                "observation": jnp.concatenate([observation[None], seen]),
                "state_descriptor": jnp.concatenate([here[None], state_descriptor]),
            }
        return out


def _field(data: Any, name: str) -> Array:
    """An MjData field by name, whether MJX keeps it in its public data or in its implementation's."""
    public = {field.name for field in dataclasses.fields(data)}
    return getattr(data if name in public else data._impl, name)
