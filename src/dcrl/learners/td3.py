"""TD3 with a descriptor-conditioned actor and critic (Algorithm 2 of the paper).

y   = S(d, d') r + gamma (1 - fall) min_i Q'_i(s', pi'(s' | d') + eps | d')
L_Q = sum_i mean ((Q_i(s, a | d') - y) (1 - truncated))^2
L_pi = -mean Q_1(s, pi(s | d') | d')

Conditioning is switched off by samples without target columns: unconditioned TD3 is the same code. An ablated actor
(`conditioned_actor=False`) sees zeros where d' would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dcrl import keys
from dcrl.networks import Layers, Parameters, act, apply
from dcrl.replay import Replay, Samples

T = TypeVar("T")
Twin: TypeAlias = tuple[Parameters, Parameters]  # both critics

CHUNK = 300  # steps whose samples are gathered together, while the device trains on those before


@dataclass(frozen=True, kw_only=True)
class TD3Config:
    """Hyperparameters of actor-critic training; the defaults are the paper's."""

    critic_hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of each critic."""
    critic_steps: int = 3000
    """Critic updates a generation."""
    batch_size: int = 100
    """Transitions in a minibatch."""
    critic_learning_rate: float = 3e-4
    """Adam's step size for the critics."""
    actor_learning_rate: float = 3e-4
    """Adam's step size for the actor."""
    discount: float = 0.99
    """Discount factor gamma."""
    actor_delay: int = 2
    """Critic updates per actor update."""
    target_rate: float = 0.005
    """Share of the way a target network moves at each update."""
    smoothing_noise: float = 0.2
    """Standard deviation of the noise on target actions."""
    smoothing_clip: float = 0.5
    """Bound of that noise."""
    replay_size: int = 1_000_000
    """Transitions kept for training."""
    target_update: Literal["delayed", "every_step"] = "delayed"
    """When critic targets move: with the actor (the paper), or at every step (the authors' code)."""

    def __post_init__(self) -> None:
        for name in ("critic_steps", "batch_size", "actor_delay", "replay_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.critic_steps % self.actor_delay:
            raise ValueError(
                f"critic_steps must be a multiple of actor_delay, got {self.critic_steps} and {self.actor_delay}"
            )
        if not 0 <= self.discount <= 1 or not 0 < self.target_rate <= 1:
            raise ValueError(
                f"discount must lie in [0, 1] and target_rate in (0, 1], got {self.discount} and {self.target_rate}"
            )


class TD3State(NamedTuple):
    """Everything that learning changes."""

    critics: Twin
    critic_targets: Twin
    critic_optimiser: optax.OptState
    actor: Parameters
    actor_target: Parameters
    actor_optimiser: optax.OptState


@dataclass(frozen=True, kw_only=True)
class TD3:
    """The learner: network shapes and hyperparameters. `descriptor_size` 0 means not conditioned."""

    observation_size: int
    action_size: int
    descriptor_size: int
    actor_hidden: tuple[int, ...]
    conditioned_actor: bool = True
    config: TD3Config = TD3Config()

    @property
    def actor_layers(self) -> Layers:
        return Layers((self.observation_size + self.descriptor_size, *self.actor_hidden, self.action_size))

    @property
    def critic_layers(self) -> Layers:
        inputs = self.observation_size + self.action_size + self.descriptor_size
        return Layers((inputs, *self.config.critic_hidden, 1))

    @property
    def critic_optimiser(self) -> optax.GradientTransformation:
        return optax.adam(self.config.critic_learning_rate)

    @property
    def actor_optimiser(self) -> optax.GradientTransformation:
        return optax.adam(self.config.actor_learning_rate)

    def init(self, key: jax.Array, actor: jax.Array | None = None) -> TD3State:
        """Fresh networks; the parameters of an `actor` (Pa,) can be given to start from."""
        layers = self.critic_layers
        critics = (
            layers.split(layers.init(keys.stream(key, "critic 1"))),
            layers.split(layers.init(keys.stream(key, "critic 2"))),
        )
        policy = self.actor_layers.split(self.actor_layers.init(keys.stream(key, "actor")) if actor is None else actor)
        return TD3State(
            critics=critics,
            critic_targets=critics,
            critic_optimiser=self.critic_optimiser.init(critics),
            actor=policy,
            actor_target=policy,
            actor_optimiser=self.actor_optimiser.init(policy),
        )

    def policy(self, actor: Parameters, observation: jax.Array, target: jax.Array) -> jax.Array:
        """pi(s | d') for rows (N, O) and (N, D)."""
        seen = target if self.conditioned_actor else jnp.zeros_like(target)
        return act(actor, jnp.concatenate([observation, seen], axis=-1))

    def value(self, critic: Parameters, observation: jax.Array, action: jax.Array, target: jax.Array) -> jax.Array:
        """Q(s, a | d') of one critic, for rows."""
        return apply(critic, jnp.concatenate([observation, action, target], axis=-1))[:, 0]


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


@partial(jax.jit, static_argnames=("learner",))
def train_steps(learner: TD3, state: TD3State, samples: Samples, key: jax.Array, first: int) -> TD3State:
    """Train on samples (groups, actor_delay, batch, ...), `first` being the number of groups before them."""

    def group(state: TD3State, inputs: tuple[Samples, jax.Array]) -> tuple[TD3State, None]:
        samples, number = inputs
        noise = jax.random.normal(jax.random.fold_in(key, number), samples.action.shape)
        noise = learner.config.smoothing_noise * noise
        return update(learner, state, samples, noise), None

    numbers = first + jnp.arange(samples.reward.shape[0])
    trained, _ = jax.lax.scan(group, state, (samples, numbers))
    return trained


def update(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    """`actor_delay` critic updates, then one actor update and the targets'; samples (actor_delay, batch, ...).

    `noise` (actor_delay, batch, A) smooths the target actions, once clipped.
    """
    noise = jnp.clip(noise, -learner.config.smoothing_clip, learner.config.smoothing_clip)
    if learner.config.target_update == "delayed":
        return _update_delayed(learner, state, samples, noise)
    return _update_every_step(learner, state, samples, noise)


def _update_delayed(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    y = bellman_target(learner, state, samples, noise)  # all steps of the group at once: the targets stand still
    critics, optimiser = state.critics, state.critic_optimiser
    for i in range(learner.config.actor_delay):
        critics, optimiser = _critic_step(learner, critics, optimiser, _step(samples, i), y[i])
    actor, actor_optimiser = _actor_step(learner, state, critics, _step(samples, -1))
    return TD3State(
        critics=critics,
        critic_targets=_towards(state.critic_targets, critics, learner.config.target_rate),
        critic_optimiser=optimiser,
        actor=actor,
        actor_target=_towards(state.actor_target, actor, learner.config.target_rate),
        actor_optimiser=actor_optimiser,
    )


def _update_every_step(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    """The authors' code: critic targets move every step; the actor follows the critic before its last update."""
    actor, actor_optimiser = state.actor, state.actor_optimiser
    for i in range(learner.config.actor_delay):
        step = _step(samples, i)
        y = bellman_target(learner, state, step, noise[i])
        if i == learner.config.actor_delay - 1:
            actor, actor_optimiser = _actor_step(learner, state, state.critics, step)
        critics, optimiser = _critic_step(learner, state.critics, state.critic_optimiser, step, y)
        targets = _towards(state.critic_targets, critics, learner.config.target_rate)
        state = state._replace(critics=critics, critic_optimiser=optimiser, critic_targets=targets)
    actor_target = _towards(state.actor_target, actor, learner.config.target_rate)
    return state._replace(actor=actor, actor_optimiser=actor_optimiser, actor_target=actor_target)


def bellman_target(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> jax.Array:
    """y for samples with any leading axes, smoothed by `noise` as it is."""
    shape = samples.reward.shape
    rows = int(np.prod(shape))  # not -1: an unconditioned learner has targets of size 0
    flat = Samples(*(part.reshape(rows, *part.shape[len(shape) :]) for part in samples))
    action = learner.policy(state.actor_target, flat.next_observation, flat.target)
    action = jnp.clip(action + noise.reshape(action.shape), -1, 1)
    values = [learner.value(critic, flat.next_observation, action, flat.target) for critic in state.critic_targets]
    y: jax.Array = flat.reward + learner.config.discount * (1 - flat.terminal) * jnp.minimum(*values)
    return y.reshape(shape)


def _critic_step(
    learner: TD3, critics: Twin, optimiser: optax.OptState, samples: Samples, y: jax.Array
) -> tuple[Twin, optax.OptState]:
    def loss(critics: Twin) -> jax.Array:
        values = [learner.value(critic, samples.observation, samples.action, samples.target) for critic in critics]
        errors = (jnp.stack(values) - y) * (1 - samples.truncated)
        return jnp.square(errors).mean(axis=1).sum()

    step, optimiser = learner.critic_optimiser.update(jax.grad(loss)(critics), optimiser)
    return optax.apply_updates(critics, step), optimiser


def _actor_step(learner: TD3, state: TD3State, critics: Twin, samples: Samples) -> tuple[Parameters, optax.OptState]:
    def loss(actor: Parameters) -> jax.Array:
        action = learner.policy(actor, samples.observation, samples.target)
        return -jnp.mean(learner.value(critics[0], samples.observation, action, samples.target))

    step, optimiser = learner.actor_optimiser.update(jax.grad(loss)(state.actor), state.actor_optimiser)
    return optax.apply_updates(state.actor, step), optimiser


def _step(samples: Samples, i: int) -> Samples:
    return Samples(*(part[i] for part in samples))


def _towards(target: T, online: T, rate: float) -> T:
    moved: T = jax.tree.map(lambda a, b: (1 - rate) * a + rate * b, target, online)
    return moved
