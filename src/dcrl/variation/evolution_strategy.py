"""Evolution strategies: a gradient of scores from mirrored samples (Salimans et al., 2017).

theta_i = theta +- sigma epsilon_i,  g = -sum_i (r_i+ - r_i-) epsilon_i / (n sigma) + l2 theta,
with r the centred ranks of all n scores; Adam descends g.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dcrl import keys
from dcrl.hyperparameters import at_least, not_negative, positive
from dcrl.networks.perceptrons import join
from dcrl.networks.policies import Layers
from dcrl.types import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class EvolutionStrategyConfig:
    """Hyperparameters of the evolution strategy; the defaults are the paper's."""

    es_samples: int = 1000
    """Policies evaluated for one gradient, half of them mirrored."""
    es_sigma: float = 0.02
    """Standard deviation of the noise on a sample's parameters."""
    es_learning_rate: float = 0.01
    """Adam's step size."""
    es_l2: float = 0.02
    """Weight of the L2 penalty on the parameters."""

    def __post_init__(self) -> None:
        at_least(self, 2, "es_samples")
        if self.es_samples % 2:
            raise ValueError(f"es_samples must be even, got {self.es_samples}")
        positive(self, "es_sigma", "es_learning_rate")
        not_negative(self, "es_l2")


class Search(NamedTuple):
    """The state of a search: its centre, its optimiser, and the cells improved last, newest last."""

    centre: Floats  # (P,)
    optimiser: optax.OptState
    recent: Ints


NO_SEARCH = Search(np.zeros(0, np.float32), (), np.zeros(0, np.int64))  # for algorithms without one


def begin(config: EvolutionStrategyConfig, centre: Floats, recent: Ints) -> Search:
    """A fresh search from a centre."""
    return Search(centre, _optimiser(config).init(jnp.asarray(centre)), recent)


def samples(config: EvolutionStrategyConfig, layers: Layers, centre: Floats, key: jax.Array) -> tuple[Floats, Floats]:
    """(n, P) policies around the centre, the second half mirroring the first, and the noise (n / 2, P)."""
    noise = np.asarray(_noise(layers, key, config.es_samples // 2))
    return np.concatenate([centre + config.es_sigma * noise, centre - config.es_sigma * noise]), noise


@partial(jax.jit, static_argnames=("layers", "count"))
def _noise(layers: Layers, key: jax.Array, count: int) -> jax.Array:
    """Standard normal, from a stream of its own for each layer."""
    shapes = layers.split(jnp.zeros(layers.parameters))
    parts = [
        (
            jax.random.normal(keys.stream(key, f"kernel {i}"), (count, *kernel.shape)),
            jax.random.normal(keys.stream(key, f"bias {i}"), (count, *bias.shape)),
        )
        for i, (kernel, bias) in enumerate(shapes)
    ]
    return join(parts)


def centred_ranks(scores: Floats) -> Floats:
    """(n,) ranks from -0.5, the lowest score, to 0.5; the first of equal scores is the lower, NaN the lowest of all."""
    order = np.argsort(np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    ranks = np.empty(len(scores), np.float32)
    ranks[order] = np.arange(len(scores), dtype=np.float32)
    return ranks / (len(scores) - 1) - 0.5


def gradient(config: EvolutionStrategyConfig, centre: Floats, noise: Floats, scores: Floats) -> Floats:
    """(P,) what Adam descends, towards higher scores and smaller parameters."""
    ahead, behind = np.split(centred_ranks(scores), 2)
    descent = -(ahead - behind) @ noise / (config.es_samples * config.es_sigma)
    return np.asarray(descent + config.es_l2 * centre, np.float32)


def step(config: EvolutionStrategyConfig, search: Search, noise: Floats, scores: Floats) -> Search:
    """The search after one step along the samples' gradient."""
    change, optimiser = _optimiser(config).update(gradient(config, search.centre, noise, scores), search.optimiser)
    return search._replace(centre=np.asarray(search.centre + np.asarray(change), np.float32), optimiser=optimiser)


def _optimiser(config: EvolutionStrategyConfig) -> optax.GradientTransformation:
    return optax.adam(config.es_learning_rate)
