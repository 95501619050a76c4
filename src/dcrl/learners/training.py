"""A generation's actor-critic training: drawing minibatches, and sharing the work among the devices.

Where there are two devices or more, each critic has one of its own: small matrix products do not scale
over threads, two critics do. Results agree with those of one device up to rounding.
"""

from __future__ import annotations

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as Spec

from dcrl import keys
from dcrl.learners.td3 import TD3, Network, TD3Config, TD3State, update
from dcrl.replay import Replay, Samples

CRITICS = "critics"  # the device axis, when each critic has a device of its own
CHUNK = 300  # steps whose samples are gathered together, while the devices train on those before


def train(learner: TD3, state: TD3State, replay: Replay, key: jax.Array) -> TD3State:
    """One generation's training. Returns at once: the device goes on while the caller does other work."""
    index = np.asarray(sample_index(keys.stream(key, "samples"), learner.config, replay.size))
    smoothing = keys.stream(key, "smoothing")
    groups = max(1, CHUNK // learner.config.actor_delay)
    for first in range(0, len(index), groups):
        samples = replay.gather(index[first : first + groups])
        state = train_steps(learner, state, samples, smoothing, first)
    return state


@partial(jax.jit, static_argnames=("config",))
def sample_index(key: jax.Array, config: TD3Config, size: int) -> jax.Array:
    """(groups, actor_delay, batch) rows drawn uniformly, with replacement."""
    shape = (config.critic_steps // config.actor_delay, config.actor_delay, config.batch_size)
    return jax.random.randint(key, shape, 0, size)


def train_steps(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    """Train on samples (groups, actor_delay, batch, ...), `first` being the number of groups before them."""
    train = _train_together
    if jax.local_device_count() > 1:
        train, state = _train_apart, jax.device_put(state, _everywhere())
    trained: TD3State = train(learner, state, samples, key, first)
    return trained


@partial(jax.jit, static_argnames=("learner",))
def _train_together(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    return _train(learner, state, samples, key, first, None)


@partial(jax.jit, static_argnames=("learner",))
def _train_apart(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    """Each critic on a device of its own. They meet twice a group: for min Q', and for the actor's gradient."""

    def share(critics: Network, actor: Network, samples: Samples, key: jax.Array, first: int) -> TD3State:
        critic: Network = jax.tree.map(lambda x: x[0], critics)
        trained = _train(learner, TD3State((critic,), actor), samples, key, first, CRITICS)
        return TD3State(jax.tree.map(lambda x: x[None], trained.critics), trained.actor)

    own, whole = Spec(CRITICS), Spec()
    spread = jax.shard_map(
        share,
        mesh=_everywhere().mesh,
        in_specs=(own, whole, whole, whole, whole),
        out_specs=TD3State(own, whole),  # type: ignore[arg-type]
        check_vma=False,
    )
    stacked = jax.tree.map(lambda *pair: jnp.stack(pair), *state.critics)
    ((critics,), actor) = spread(stacked, state.actor, samples, key, first)
    trained = TD3State(tuple(jax.tree.map(lambda x, i=i: x[i], critics) for i in (0, 1)), actor)
    placed: TD3State = jax.lax.with_sharding_constraint(trained, _everywhere())
    return placed


@cache
def _everywhere() -> NamedSharding:
    """A copy on each of the two devices that train."""
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((2,), (CRITICS,), axis_types=auto, devices=jax.local_devices()[:2])
    return NamedSharding(mesh, Spec())


def _train(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int, axis: str | None) -> TD3State:
    def group(state: TD3State, inputs: tuple[Samples, jax.Array]) -> tuple[TD3State, None]:
        samples, number = inputs
        noise = jax.random.normal(jax.random.fold_in(key, number), samples.action.shape)
        return update(learner, state, samples, learner.config.smoothing_noise * noise, axis), None

    numbers = first + jnp.arange(samples.reward.shape[0])
    trained, _ = jax.lax.scan(group, state, (samples, numbers))
    return trained
