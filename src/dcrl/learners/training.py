"""A generation's actor-critic training: drawing minibatches and going through them.

A small network's products do not scale over threads, two critics' do: on a CPU of several cores each
critic trains on a device of its own. They meet twice an actor update, to agree on the targets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec

from dcrl import keys
from dcrl.learners.td3 import TD3, TD3Config, TD3State, update
from dcrl.replay import Replay, Samples
from dcrl.types import Floats, Ints

CHUNK = 300  # steps whose samples are gathered together, while the device trains on those before
WHOLE, OWN = Spec(), Spec("critics")  # every device has the samples, and its own critic


def train(
    learner: TD3,
    state: TD3State,
    replay: Replay,
    key: jax.Array,
    reward: Callable[[Ints], Floats] | None = None,
) -> TD3State:
    """One generation's training. Returns at once: the devices go on while the caller does other work.

    `reward` gives other rewards than the stored ones for rows of the replay buffer.
    """
    index = np.asarray(sample_index(keys.stream(key, "samples"), learner.config, replay.size))
    smoothing = keys.stream(key, "smoothing")
    groups = max(1, CHUNK // learner.config.actor_delay)
    mesh = critic_mesh()
    if mesh:
        state = _spread(mesh, state)
    for first in range(0, len(index), groups):
        rows = index[first : first + groups]
        samples = replay.gather(rows)
        if reward:
            samples = samples._replace(reward=reward(rows))
        if mesh:
            samples, smoothing = jax.device_put((samples, smoothing), NamedSharding(mesh, WHOLE))
            state = train_apart(mesh, learner, state, samples, smoothing, first)
        else:
            state = train_steps(learner, state, samples, smoothing, first)
    return _collect(state) if mesh else state


@partial(jax.jit, static_argnames=("config",))
def sample_index(key: jax.Array, config: TD3Config, size: int) -> jax.Array:
    """(groups, actor_delay, batch) rows drawn uniformly, with replacement."""
    shape = (config.critic_steps // config.actor_delay, config.actor_delay, config.batch_size)
    return jax.random.randint(key, shape, 0, size)


@partial(jax.jit, static_argnames=("learner", "axis"))
def train_steps(
    learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int, axis: str | None = None
) -> TD3State:
    """Train on samples (groups, actor_delay, batch, ...), `first` being the number of groups before them."""

    def smoothing(number: jax.Array) -> jax.Array:
        return jax.random.normal(jax.random.fold_in(key, number), samples.action.shape[1:])

    def group(state: TD3State, inputs: tuple[Samples, jax.Array]) -> tuple[TD3State, None]:
        samples, noise = inputs
        return update(learner, state, samples, noise, axis), None

    noise = learner.config.smoothing_noise * jax.vmap(smoothing)(first + jnp.arange(samples.reward.shape[0]))
    trained, _ = jax.lax.scan(group, state, (samples, noise))
    return trained


@lru_cache(maxsize=1)
def critic_mesh() -> Mesh | None:
    """A device for each critic, if this is a CPU that has them."""
    devices = jax.local_devices()[:2]
    if len(devices) < 2 or devices[0].platform != "cpu":
        return None
    return jax.make_mesh((2,), ("critics",), axis_types=(jax.sharding.AxisType.Auto,), devices=devices)


@partial(jax.jit, static_argnames=("mesh", "learner"))
def train_apart(mesh: Mesh, learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    """`train_steps` with a critic a device; the state's arrays have an axis of devices in front."""

    def own(state: TD3State, samples: Samples, key: jax.Array, first: int) -> Any:
        trained = train_steps(learner, jax.tree.map(lambda x: x[0], state), samples, key, first, axis="critics")
        return jax.tree.map(lambda x: x[None], trained)

    specs = (OWN, WHOLE, WHOLE, WHOLE)
    apart = jax.shard_map(own, mesh=mesh, in_specs=specs, out_specs=OWN, check_vma=False)
    trained: TD3State = apart(state, samples, key, first)
    return trained


def _spread(mesh: Mesh, state: TD3State) -> TD3State:
    each = [TD3State((critic,), state.actor) for critic in state.critics]
    stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *each)
    spread: TD3State = jax.device_put(stacked, NamedSharding(mesh, OWN))
    return spread


def _collect(state: TD3State) -> TD3State:
    """On the first device: both critics, and the actor it trained."""
    first, second = (jax.tree.map(itemgetter(i), state) for i in (0, 1))
    together = TD3State(first.critics + second.critics, first.actor)
    collected: TD3State = jax.device_put(together, jax.local_devices()[0])
    return collected
