"""Multilayer perceptrons in JAX: initialised, applied, differentiated. `policies` defines their shapes."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys
from dcrl.networks.policies import Layers, Parameters
from dcrl.types import Floats


def init(layers: Layers, key: jax.Array) -> jax.Array:
    """One random parameter vector (P,): kernels uniform in +-sqrt(3 / fan_in), biases 0."""
    parts = []
    for key_l, (fan_in, fan_out) in zip(
        jax.random.split(key, len(layers.sizes) - 1), pairwise(layers.sizes), strict=True
    ):
        bound = (3 / fan_in) ** 0.5
        kernel = jax.random.uniform(key_l, (fan_in, fan_out), minval=-bound, maxval=bound)
        parts.append((kernel, jnp.zeros(fan_out)))
    return join(parts)


def initial_policies(layers: Layers, seed: int, count: int) -> Floats:
    """(count, P) the policies that a run begins with: the same for every algorithm, the i-th whatever the count."""
    key = keys.stream(keys.generation(keys.root(seed), 0), "policies")
    return np.asarray(_drawn(layers, key, count))


@partial(jax.jit, static_argnames=("layers", "count"))
def _drawn(layers: Layers, key: jax.Array, count: int) -> jax.Array:
    return jax.vmap(partial(init, layers))(keys.each(key, count))


def join(layers: Parameters) -> jax.Array:
    """The vector (..., P) of a network's layers: the inverse of `Layers.split`."""
    parts = [part for kernel, bias in layers for part in (kernel.reshape(*bias.shape[:-1], -1), bias)]
    return jnp.concatenate(parts, axis=-1)


@jax.custom_vjp
def product(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
    """The matrix product. The kernel's gradient copies the transposed inputs first: 1.3 times as fast on a CPU."""
    return inputs @ kernel


def _product_forward(inputs: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return inputs @ kernel, (inputs, kernel)


def _product_backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    inputs, kernel = saved
    return gradient @ kernel.T, jax.lax.optimization_barrier(inputs.T) @ gradient


product.defvjp(_product_forward, _product_backward)


def apply(layers: Parameters, inputs: jax.Array) -> jax.Array:
    """The network's output before the final activation; inputs (N, in)."""
    *hidden, (kernel, bias) = layers
    for hidden_kernel, hidden_bias in hidden:
        inputs = jax.nn.relu(product(inputs, hidden_kernel) + hidden_bias)
    output: jax.Array = product(inputs, kernel) + bias
    return output


def normalised(inputs: jax.Array) -> jax.Array:
    """Layer normalisation without parameters: rows of mean 0 and variance 1."""
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    scaled: jax.Array = centred * jax.lax.rsqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + 1e-5)
    return scaled


def apply_normalised(layers: Parameters, inputs: jax.Array) -> jax.Array:
    """As `apply`, with each hidden layer normalised before its activation."""
    *hidden, (kernel, bias) = layers
    for hidden_kernel, hidden_bias in hidden:
        inputs = jax.nn.relu(normalised(product(inputs, hidden_kernel) + hidden_bias))
    output: jax.Array = product(inputs, kernel) + bias
    return output


def act(layers: Parameters, observation: jax.Array) -> jax.Array:
    """The action in [-1, 1] of one policy, in JAX."""
    return jnp.tanh(apply(layers, observation))
