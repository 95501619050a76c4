"""Action-sequence variation of ASCII-MAP-Elites (Mitsides, Faldor & Cully, 2025): elites learn from a better episode.

Parent A has the episode that put it into the archive, B is an episode of the latest generation. For every time step t

    w_t = max(0.25, cos(s^A_t, s^B_t)) (G^B_t - G^A_t)        G: discounted reward-to-go

says how much better B did there, in a state how similar. Adam, fresh for each parent, descends

    -mean_t min(rho_t w_t, max(rho_t, 1 - 0.2) w_t)           rho_t = exp(-|a^B_t - pi(s^B_t)|^2 / (2 sigma^2))

over the steps that both episodes have. No critic is needed. Parents are distributed over the devices, as in
`policy_gradient`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding

from dcrl import keys
from dcrl.archive.episodes import Remembered
from dcrl.archive.selection import select
from dcrl.hyperparameters import at_least, positive, within
from dcrl.networks.perceptrons import act, join
from dcrl.networks.policies import Layers, Parameters
from dcrl.types import Descriptor, Floats
from dcrl.variation.operator import Offspring, Sources, no_target
from dcrl.variation.policy_gradient import OWN, mesh_of

SHORTEST = 32  # steps that are computed at least; lengths are rounded up to powers of 2, each compiled once


@dataclass(frozen=True, kw_only=True)
class ActionSequenceConfig:
    """Hyperparameters of action-sequence variation; the defaults are those of the authors' code."""

    ascii_steps: int = 32
    """Gradient steps per parent."""
    ascii_learning_rate: float = 3e-3
    """Adam's step size for offspring."""
    ascii_sigma: float = 2.0
    """Width of the Gaussian kernel on actions."""
    ascii_clip: float = 0.2
    """Where the other episode did worse, kernel values below 1 minus this have no gradient, as in PPO."""
    ascii_similarity: float = 0.25
    """Lower bound on the similarity of two states."""
    ascii_discount: float = 0.99
    """Discount of the rewards-to-go."""

    def __post_init__(self) -> None:
        at_least(self, 1, "ascii_steps")
        positive(self, "ascii_learning_rate", "ascii_sigma")
        within(self, 0, 1, "ascii_clip", "ascii_similarity", "ascii_discount")


@dataclass(frozen=True, kw_only=True)
class ActionSequence:
    """Uniformly drawn elites, each moved towards the better actions of one of the latest episodes, without a target."""

    name: str = "ascii"
    count: int
    layers: Layers
    descriptor: Descriptor
    config: ActionSequenceConfig = ActionSequenceConfig()
    targeted: ClassVar[bool] = False
    needs_training: ClassVar[bool] = False

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        archive, remembered = sources.archive, sources.remembered
        cells = select(archive, keys.stream(key, "parents"), self.count)
        usable = np.flatnonzero(remembered.latest.steps)
        if not len(usable):  # all simulations of the latest generation diverged
            return Offspring(genotype=archive.genotype[cells], target=no_target(self.count, self.descriptor))
        others = usable[np.asarray(jax.random.randint(keys.stream(key, "others"), (self.count,), 0, len(usable)))]
        genotype = follow(self.layers, self.config, archive.genotype[cells], *_pairs(remembered, cells, others, self))
        return Offspring(genotype=genotype, target=no_target(self.count, self.descriptor))


def _pairs(
    remembered: Remembered, cells: np.ndarray, others: np.ndarray, operator: ActionSequence
) -> tuple[Floats, Floats, Floats]:
    """The states (B, T, O) and actions (B, T, A) to learn from, and the weights (B, T)."""
    elites, latest = remembered.elites, remembered.latest
    common = np.minimum(elites.steps[cells], latest.steps[others])
    length = _rounded(int(common.max(initial=1)), elites.reward_to_go.shape[1])
    mine, states = elites.observation[cells, :length], latest.observation[others, :length]
    gain = latest.reward_to_go[others, :length] - elites.reward_to_go[cells, :length]
    weight = np.maximum(operator.config.ascii_similarity, cosine(mine, states)) * gain
    weight[np.arange(length) >= common[:, None]] = np.nan
    return states, latest.action[others, :length], weight.astype(np.float32)


def _rounded(steps: int, horizon: int) -> int:
    return min(horizon, max(SHORTEST, 1 << (steps - 1).bit_length()))


def cosine(a: Floats, b: Floats) -> Floats:
    """The cosine of the angle between rows; 0 where one is 0."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.asarray((a * b).sum(axis=-1) / np.where(lengths > 0, lengths, 1))


def follow(
    layers: Layers, config: ActionSequenceConfig, parents: Floats, states: Floats, actions: Floats, weight: Floats
) -> Floats:
    """(B, P) parents after `config.ascii_steps` steps; steps of NaN weight do not count."""
    count = len(parents)
    mesh = mesh_of(min(jax.local_device_count(), count))
    rows = np.arange(-(-count // mesh.size) * mesh.size) % count  # padded: equally many per device
    own = jax.device_put((parents[rows], states[rows], actions[rows], weight[rows]), NamedSharding(mesh, OWN))
    return np.asarray(_follow(mesh, layers, config, *own))[:count]


def loss(
    config: ActionSequenceConfig, policy: Parameters, states: jax.Array, actions: jax.Array, weight: jax.Array
) -> jax.Array:
    """Of one parent; NaN where both episodes have no step in common."""
    squared = jnp.square(actions - act(policy, states)).sum(axis=-1)
    kernel = jnp.exp(-squared / (2 * config.ascii_sigma**2))
    counted = ~jnp.isnan(weight)
    known = jnp.where(counted, weight, 0)
    gained = jnp.minimum(kernel * known, jnp.maximum(kernel, 1 - config.ascii_clip) * known)
    return -gained.sum() / jnp.maximum(counted.sum(), 1)


@partial(jax.jit, static_argnames=("mesh", "layers", "config"))
def _follow(
    mesh: Mesh,
    layers: Layers,
    config: ActionSequenceConfig,
    parents: jax.Array,
    states: jax.Array,
    actions: jax.Array,
    weight: jax.Array,
) -> jax.Array:
    optimiser = optax.adam(config.ascii_learning_rate)

    def one(parent: tuple[jax.Array, jax.Array, jax.Array, jax.Array]) -> jax.Array:
        genotype, *episode = parent
        policy = layers.split(genotype)

        def step(carry: tuple[Parameters, optax.OptState], _: None) -> tuple[tuple[Parameters, optax.OptState], None]:
            policy, state = carry
            change, state = optimiser.update(jax.grad(partial(loss, config))(policy, *episode), state)
            return (optax.apply_updates(policy, change), state), None

        (moved, _), _ = jax.lax.scan(step, (policy, optimiser.init(policy)), length=config.ascii_steps)
        return join(moved)

    def share(*own: jax.Array) -> jax.Array:
        """What one device does."""
        offspring: jax.Array = jax.lax.map(one, own)
        return offspring

    spread = jax.shard_map(share, mesh=mesh, in_specs=(OWN,) * 4, out_specs=OWN, check_vma=False)
    offspring: jax.Array = spread(parents, states, actions, weight)
    return offspring
