"""Policy-gradient variation: elites climb the critic while keeping their descriptor (Algorithm 3 of the paper).

grad J = mean grad_phi pi_phi(s) grad_a Q_1(s, a | d_phi) at a = pi_phi(s), followed by Adam, fresh for
each parent. All parents see the same minibatches, so the critic's first layer is split: its state
part is computed once for all parents, its descriptor part once per parent, and only its action part is
differentiated. Parents are independent. They are distributed over the devices, each of which takes one
at a time (2, 4 or 8 at a time were no faster on 2 cores).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec

from dcrl import keys
from dcrl.archive.selection import select
from dcrl.hyperparameters import at_least, positive
from dcrl.learners.conditioning import normalise
from dcrl.learners.td3 import TD3
from dcrl.networks.perceptrons import act, join, normalised
from dcrl.networks.policies import Layers, Parameters
from dcrl.types import Descriptor, Floats
from dcrl.variation.operator import Offspring, Sources
from dcrl.variation.targets import GradientTarget, gradient_targets

# Every device holds the critic and the samples, and its own parents.
WHOLE, OWN = Spec(), Spec("parents")


@dataclass(frozen=True, kw_only=True)
class PolicyGradientConfig:
    """Hyperparameters of the policy-gradient operator; the defaults are the paper's."""

    policy_steps: int = 150
    """Gradient steps per parent."""
    policy_learning_rate: float = 5e-3
    """Adam's step size for offspring."""

    def __post_init__(self) -> None:
        at_least(self, 1, "policy_steps")
        positive(self, "policy_learning_rate")


@dataclass(frozen=True, kw_only=True)
class PolicyGradient:
    """Uniformly drawn elites, improved by gradient steps; the target is the parent's descriptor, if not another."""

    name: str = "pg"
    count: int
    learner: TD3
    layers: Layers
    descriptor: Descriptor
    config: PolicyGradientConfig = PolicyGradientConfig()
    target: GradientTarget = "parent"
    learner_index: int = 0
    targeted: ClassVar[bool] = True
    needs_training: ClassVar[bool] = True

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        archive, replay = sources.archive, sources.replay
        cells = select(archive, keys.stream(key, "parents"), self.count)
        shape = (self.config.policy_steps, self.learner.config.batch_size)
        index = np.asarray(jax.random.randint(keys.stream(key, "samples"), shape, 0, replay.size))
        target = gradient_targets(self.target, archive, cells)
        conditions = normalise(self.descriptor, target)
        genotype = climb(
            self.learner,
            self.layers,
            self.config,
            sources.learned[self.learner_index].critics[0].online,
            archive.genotype[cells],
            conditions[:, : self.learner.descriptor_size],
            replay.observation.take(index, axis=0),
        )
        return Offspring(genotype=genotype, target=target)


def climb(
    learner: TD3,
    layers: Layers,
    config: PolicyGradientConfig,
    critic: Parameters,
    parents: Floats,
    conditions: Floats,
    observations: Floats,
) -> Floats:
    """(B, P) parents after `config.policy_steps` gradient steps on observations (steps, N, O)."""
    count = len(parents)
    mesh = mesh_of(min(jax.local_device_count(), count))
    rows = np.arange(-(-count // mesh.size) * mesh.size) % count  # padded: equally many per device
    shared = jax.device_put((critic, observations), NamedSharding(mesh, WHOLE))
    own = jax.device_put((parents[rows], conditions[rows]), NamedSharding(mesh, OWN))
    return np.asarray(_climb(mesh, learner, layers, config, *shared, *own))[:count]


@lru_cache(maxsize=4)
def mesh_of(devices: int) -> Mesh:
    """The first devices of this machine, among which the parents are shared."""
    auto = (jax.sharding.AxisType.Auto,)
    return jax.make_mesh((devices,), ("parents",), axis_types=auto, devices=jax.local_devices()[:devices])


@partial(jax.jit, static_argnames=("mesh", "learner", "layers", "config"))
def _climb(
    mesh: Mesh,
    learner: TD3,
    layers: Layers,
    config: PolicyGradientConfig,
    critic: Parameters,
    observations: jax.Array,
    parents: jax.Array,
    conditions: jax.Array,
) -> jax.Array:
    def activate(hidden: jax.Array) -> jax.Array:
        return jax.nn.relu(hidden if learner.config.critic_norm == "none" else normalised(hidden))

    def share(critic: Parameters, observations: jax.Array, parents: jax.Array, conditions: jax.Array) -> jax.Array:
        """What one device does."""
        (kernel, bias), *deeper = critic
        state_kernel, action_kernel, condition_kernel = jnp.split(
            kernel, [learner.observation_size, learner.observation_size + learner.action_size]
        )
        state_part = observations @ state_kernel + bias  # (steps, N, H)
        optimiser = optax.adam(config.policy_learning_rate)

        def one(parent: tuple[jax.Array, jax.Array]) -> jax.Array:
            policy, condition_part = layers.split(parent[0]), parent[1] @ condition_kernel

            def loss(policy: Parameters, observation: jax.Array, state_part: jax.Array) -> jax.Array:
                hidden = activate(state_part + act(policy, observation) @ action_kernel + condition_part)
                for middle_kernel, middle_bias in deeper[:-1]:
                    hidden = activate(hidden @ middle_kernel + middle_bias)
                last_kernel, last_bias = deeper[-1]
                return -jnp.mean(hidden @ last_kernel[:, 0] + last_bias[0])

            def step(
                carry: tuple[Parameters, optax.OptState], batch: tuple[jax.Array, jax.Array]
            ) -> tuple[tuple[Parameters, optax.OptState], None]:
                policy, state = carry
                change, state = optimiser.update(jax.grad(loss)(policy, *batch), state)
                return (optax.apply_updates(policy, change), state), None

            (climbed, _), _ = jax.lax.scan(step, (policy, optimiser.init(policy)), (observations, state_part))
            return join(climbed)

        offspring: jax.Array = jax.lax.map(one, (parents, conditions))
        return offspring

    spread = jax.shard_map(share, mesh=mesh, in_specs=(WHOLE, WHOLE, OWN, OWN), out_specs=OWN, check_vma=False)
    offspring: jax.Array = spread(critic, observations, parents, conditions)
    return offspring
