"""TD3 with a descriptor-conditioned actor and critic (Algorithm 2 of the paper).

y   = S(d, d') r + gamma (1 - fall) min_i Q'_i(s', pi'(s' | d') + eps | d')
L_Q = sum_i mean ((Q_i(s, a | d') - y) (1 - truncated))^2
L_pi = -mean Q_1(s, pi(s | d') | d')

With an output penalty c (not in the paper) L_pi gets the term c mean |Q_1| mean u^2, where u are the actor's outputs
before the tanh and mean |Q_1| is a constant. It keeps actions small that need not be large, and away from their bounds,
where the tanh leaves next to no gradient (Wang et al. 2020, Striving for Simplicity and Performance in Off-Policy DRL).

Conditioning is switched off by samples without target columns: unconditioned TD3 is the same code. An ablated actor
(`conditioned_actor=False`) sees zeros where d' would be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dcrl import keys
from dcrl.hyperparameters import ADDED, at_least, layer_sizes, not_negative, one_of, optional_count, positive, within
from dcrl.learners.replay import Samples
from dcrl.networks.perceptrons import apply, apply_normalised, init
from dcrl.networks.policies import Layers, Parameters


@dataclass(frozen=True, kw_only=True)
class TD3Config:
    """Hyperparameters of actor-critic training; the defaults are the paper's."""

    critic_hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of each critic."""
    critic_steps: int = 3000
    """Critic updates per generation."""
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
    """Polyak averaging rate of the target networks."""
    smoothing_noise: float = 0.2
    """Standard deviation of the noise on target actions."""
    smoothing_clip: float = 0.5
    """Clipping bound of that noise."""
    replay_size: int = 1_000_000
    """Transitions kept for training."""
    target_update: Literal["delayed", "every_step"] = "delayed"
    """When critic targets move: with the actor (the paper), or at every step (the authors' code)."""
    critic_norm: Literal["none", "layer"] = field(default="none", metadata=ADDED)
    """layer: the critics' hidden layers are normalised, without parameters, before their activations."""
    updates_per_transition: float | None = field(default=None, metadata=ADDED)
    """Critic updates per transition collected since the start, and at least critic_steps per generation; None for
    critic_steps in every generation (the paper)."""
    rate_decay: int | None = field(default=None, metadata=ADDED)
    """Critic updates after which the learning rates of critics and actor decrease, in proportion to 1 / updates; None
    for constant rates (the paper)."""
    output_penalty: float = field(default=0.0, metadata=ADDED)
    """Weight of a penalty on the squares of the actor's outputs before the tanh; 0 for none (the paper)."""

    def __post_init__(self) -> None:
        at_least(self, 1, "critic_steps", "batch_size", "actor_delay", "replay_size")
        positive(self, "critic_learning_rate", "actor_learning_rate", "target_rate")
        if self.updates_per_transition is not None:
            positive(self, "updates_per_transition")
        optional_count(self, "rate_decay")
        not_negative(self, "smoothing_noise", "smoothing_clip", "output_penalty")
        within(self, 0, 1, "discount", "target_rate")
        layer_sizes(self, "critic_hidden")
        one_of(self, "critic_norm", "none", "layer")
        if self.critic_steps % self.actor_delay:
            raise ValueError(
                f"critic_steps must be a multiple of actor_delay, got {self.critic_steps} and {self.actor_delay}"
            )


class Network(NamedTuple):
    """A network that learns: its parameters, the target that follows them, and its optimiser's state."""

    online: Parameters
    target: Parameters
    optimiser: optax.OptState


class TD3State(NamedTuple):
    """Everything that training changes: the critics and the actor."""

    critics: tuple[Network, ...]
    actor: Network


@dataclass(frozen=True, kw_only=True)
class TD3:
    """The learner: network shapes and hyperparameters. `descriptor_size` 0 means not conditioned."""

    observation_size: int
    action_size: int
    descriptor_size: int
    actor_hidden: tuple[int, ...]
    conditioned_actor: bool = True
    reward: Literal["task", "novelty"] = "task"  # which reward it maximises: the task's, or novelty
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
        return optax.adam(_rate(self.config.critic_learning_rate, self.config.rate_decay))

    @property
    def actor_optimiser(self) -> optax.GradientTransformation:
        after = self.config.rate_decay  # in critic updates, of which the actor sees every `actor_delay`-th
        return optax.adam(_rate(self.config.actor_learning_rate, after and after / self.config.actor_delay))

    def init(self, key: jax.Array, actor: jax.Array | None = None) -> TD3State:
        """Fresh networks; the parameters of an `actor` (Pa,) can be given to start from."""
        critics = (init(self.critic_layers, keys.stream(key, f"critic {i}")) for i in (1, 2))
        if actor is None:
            actor = init(self.actor_layers, keys.stream(key, "actor"))
        return TD3State(
            critics=tuple(_fresh(self.critic_layers.split(critic), self.critic_optimiser) for critic in critics),
            actor=_fresh(self.actor_layers.split(actor), self.actor_optimiser),
        )

    def policy(self, actor: Parameters, observation: jax.Array, target: jax.Array) -> jax.Array:
        """pi(s | d') for rows (N, O) and (N, D)."""
        return jnp.tanh(self.before_tanh(actor, observation, target))

    def before_tanh(self, actor: Parameters, observation: jax.Array, target: jax.Array) -> jax.Array:
        """The actor's outputs, of which actions are the tanh."""
        seen = target if self.conditioned_actor else jnp.zeros_like(target)
        return apply(actor, jnp.concatenate([observation, seen], axis=-1))

    def value(self, critic: Parameters, observation: jax.Array, action: jax.Array, target: jax.Array) -> jax.Array:
        """Q(s, a | d') of one critic, for rows."""
        network = apply if self.config.critic_norm == "none" else apply_normalised
        return network(critic, jnp.concatenate([observation, action, target], axis=-1))[:, 0]


def update(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    """`actor_delay` critic updates, then one update of the actor and the targets; samples (actor_delay, batch, ...).

    `noise` (actor_delay, batch, A) smooths the target actions, once clipped.
    """
    noise = jnp.clip(noise, -learner.config.smoothing_clip, learner.config.smoothing_clip)
    step = _update_delayed if learner.config.target_update == "delayed" else _update_every_step
    return step(learner, state, samples, noise)


def _update_delayed(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    y = bellman_target(learner, state, samples, noise)  # for all steps at once: the target networks are fixed meanwhile
    critics, rate = state.critics, learner.config.target_rate
    for i in range(learner.config.actor_delay):
        critics = tuple(_critic_step(learner, critic, _step(samples, i), y[i]) for critic in critics)
    actor = _actor_step(learner, state.actor, critics[0], _step(samples, -1))
    return TD3State(tuple(_follow(critic, rate) for critic in critics), _follow(actor, rate))


def _update_every_step(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> TD3State:
    """The authors' code: critic targets move every step; the actor follows the critic before its last update."""
    actor, rate = state.actor, learner.config.target_rate
    for i in range(learner.config.actor_delay):
        step = _step(samples, i)
        y = bellman_target(learner, state, step, noise[i])
        if i == learner.config.actor_delay - 1:
            actor = _actor_step(learner, actor, state.critics[0], step)
        critics = tuple(_follow(_critic_step(learner, critic, step, y), rate) for critic in state.critics)
        state = TD3State(critics, state.actor)
    return TD3State(state.critics, _follow(actor, rate))


def bellman_target(learner: TD3, state: TD3State, samples: Samples, noise: jax.Array) -> jax.Array:
    """y for samples with any leading axes; `noise` is added to the target actions without clipping."""
    shape = samples.reward.shape
    rows = math.prod(shape)  # not -1: without conditioning, targets have size 0
    flat = jax.tree.map(lambda part: part.reshape(rows, *part.shape[len(shape) :]), samples)
    action = learner.policy(state.actor.target, flat.next_observation, flat.target)
    action = jnp.clip(action + noise.reshape(action.shape), -1, 1)
    values = [learner.value(critic.target, flat.next_observation, action, flat.target) for critic in state.critics]
    lowest = reduce(jnp.minimum, values)
    y: jax.Array = flat.reward + learner.config.discount * (1 - flat.terminal) * lowest
    return y.reshape(shape)


def _critic_step(learner: TD3, critic: Network, samples: Samples, y: jax.Array) -> Network:
    def loss(online: Parameters) -> jax.Array:
        values = learner.value(online, samples.observation, samples.action, samples.target)
        return jnp.mean(jnp.square((values - y) * (1 - samples.truncated)))

    return _descend(critic, jax.grad(loss)(critic.online), learner.critic_optimiser)


def _actor_step(learner: TD3, actor: Network, critic: Network, samples: Samples) -> Network:
    def loss(online: Parameters) -> jax.Array:
        outputs = learner.before_tanh(online, samples.observation, samples.target)
        values = learner.value(critic.online, samples.observation, jnp.tanh(outputs), samples.target)
        gain = jnp.mean(values)
        if learner.config.output_penalty:
            scale = jax.lax.stop_gradient(jnp.mean(jnp.abs(values)))
            gain -= learner.config.output_penalty * scale * jnp.mean(jnp.square(outputs))
        return -gain

    return _descend(actor, jax.grad(loss)(actor.online), learner.actor_optimiser)


def _rate(rate: float, after: float | None) -> optax.ScalarOrSchedule:
    """A constant learning rate, or one that decreases in proportion to 1 / updates after so many of them."""
    if after is None:
        return rate
    return lambda updates: rate * after / jnp.maximum(updates, after)


def _fresh(parameters: Parameters, optimiser: optax.GradientTransformation) -> Network:
    return Network(parameters, parameters, optimiser.init(parameters))


def _descend(network: Network, gradient: Parameters, optimiser: optax.GradientTransformation) -> Network:
    step, state = optimiser.update(gradient, network.optimiser)
    return network._replace(online=optax.apply_updates(network.online, step), optimiser=state)


def _follow(network: Network, rate: float) -> Network:
    """The target network moves towards the online one."""
    return network._replace(
        target=jax.tree.map(lambda target, online: (1 - rate) * target + rate * online, network.target, network.online)
    )


def _step(samples: Samples, i: int) -> Samples:
    step: Samples = jax.tree.map(lambda part: part[i], samples)
    return step
