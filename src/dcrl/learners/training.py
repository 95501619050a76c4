"""One generation of actor-critic training: draw minibatches, gather them, train on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys
from dcrl.learners.replay import Replay, Samples
from dcrl.learners.td3 import TD3, TD3Config, TD3State, update
from dcrl.types import Ints

Relabel: TypeAlias = Callable[[Samples, Ints], Samples]

CHUNK = 300  # critic steps per chunk; one chunk is gathered while the device trains on the previous one
UNIT = 100  # where updates are in proportion to transitions, groups of steps per unit, so that few lengths are compiled


def train(
    learner: TD3,
    state: TD3State,
    replay: Replay,
    key: jax.Array,
    relabel: Relabel | None = None,
) -> TD3State:
    """One generation of training. Returns immediately: the device trains while the caller does other work.

    `relabel`, if given, replaces rewards and targets of samples, given their rows in the replay buffer.
    """
    due = groups_due(learner.config, state, replay)
    index = np.asarray(sample_index(keys.stream(key, "samples"), learner.config, due, replay.size))
    smoothing = keys.stream(key, "smoothing")
    groups = max(1, CHUNK // learner.config.actor_delay)
    for first in range(0, len(index), groups):
        rows = index[first : first + groups]
        samples = replay.gather(rows)
        if relabel:
            samples = relabel(samples, rows)
        state = train_steps(learner, state, samples, smoothing, first)
    return state


def groups_due(config: TD3Config, state: TD3State, replay: Replay) -> int:
    """How many groups of `actor_delay` critic updates this generation has: more where there are many transitions."""
    least = config.critic_steps // config.actor_delay
    if config.updates_per_transition is None:
        return least
    done = int(state.critics[0].optimiser[0].count)  # Adam counts them
    behind = int(config.updates_per_transition * replay.inserted) - done
    return max(least, behind // (config.actor_delay * UNIT) * UNIT)


@partial(jax.jit, static_argnames=("config", "groups"))
def sample_index(key: jax.Array, config: TD3Config, groups: int, size: int) -> jax.Array:
    """(groups, actor_delay, batch) rows drawn uniformly, with replacement."""
    return jax.random.randint(key, (groups, config.actor_delay, config.batch_size), 0, size)


@partial(jax.jit, static_argnames=("learner",))
def train_steps(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    """Train on samples (groups, actor_delay, batch, ...), the first of which is group number `first`."""

    def smoothing(number: jax.Array) -> jax.Array:
        return jax.random.normal(jax.random.fold_in(key, number), samples.action.shape[1:])

    def group(state: TD3State, inputs: tuple[Samples, jax.Array]) -> tuple[TD3State, None]:
        samples, noise = inputs
        return update(learner, state, samples, noise), None

    noise = learner.config.smoothing_noise * jax.vmap(smoothing)(first + jnp.arange(samples.reward.shape[0]))
    trained, _ = jax.lax.scan(group, state, (samples, noise))
    return trained
