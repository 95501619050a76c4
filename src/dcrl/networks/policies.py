"""Multilayer perceptrons as flat parameter vectors.

A genotype is one float32 vector: layer by layer, the kernel (in x out, row-major), then the bias.
The hidden layers are ReLU; a policy ends in tanh, a critic is linear. This module is NumPy; `perceptrons`
initialises, applies and differentiates the same networks in JAX.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from dcrl.types import Array, Floats

Parameters: TypeAlias = list[tuple[Array, Array]]  # (kernel (..., in, out), bias (..., out)) of each layer

HIDDEN = (128, 128)  # the paper's policies


@dataclass(frozen=True)
class Layers:
    """The shape of a network: its layer sizes from input to output."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(isinstance(size, int | np.integer) for size in self.sizes)
        if not whole or len(self.sizes) < 2 or min(self.sizes) < 1:
            raise ValueError(f"a network needs at least an input and an output of size 1 or more, got {self.sizes}")

    @property
    def parameters(self) -> int:
        return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(self.sizes))

    def split(self, parameters: Array) -> Parameters:
        """The layers of a parameter vector (..., P), as views where possible."""
        if parameters.shape[-1] != self.parameters:
            raise ValueError(
                f"a network of layers {' - '.join(map(str, self.sizes))} has {self.parameters} parameters, "
                f"got an array of shape {tuple(parameters.shape)}"
            )
        layers, start = [], 0
        for fan_in, fan_out in pairwise(self.sizes):
            middle, end = start + fan_in * fan_out, start + (fan_in + 1) * fan_out
            kernel = parameters[..., start:middle].reshape(*parameters.shape[:-1], fan_in, fan_out)
            layers.append((kernel, parameters[..., middle:end]))
            start = end
        return layers


def policy_layers(observation_size: int, action_size: int, hidden: tuple[int, ...] = HIDDEN) -> Layers:
    """The shape of an archive's policies."""
    if not isinstance(hidden, tuple | list):
        raise ValueError(f"hidden layers are a sequence of sizes, such as (128, 128), got {hidden!r}")
    return Layers((observation_size, *hidden, action_size))


def act(layers: Parameters, observations: Floats) -> Floats:
    """The actions (..., N, A) in [-1, 1] of policies on N observations (..., N, O) each: the forward pass in NumPy."""
    hidden = observations
    last = len(layers) - 1
    for i, (kernel, bias) in enumerate(layers):
        hidden = np.matmul(hidden, kernel)
        hidden += bias[..., None, :]
        if i < last:
            np.maximum(hidden, 0, out=hidden)
    np.tanh(hidden, out=hidden)
    return hidden


def act_each(layers: Parameters, observation: Floats) -> Floats:
    """The actions (n, A) of n policies on one observation (n, O) each.

    Each policy's action is independent of the other policies, bit for bit. A vector-matrix product is bound by
    memory, so batches are kept small enough for the processor's cache.
    """
    return act(layers, observation[:, None, :])[:, 0, :]


def specialise(actor: Layers, parameters: Floats, conditions: Floats) -> Floats:
    """(B, P) unconditioned policies that act as the conditioned actor does under each of `conditions` (B, D).

    The actor-injection identity: (s || d) W + b = s W_1 + (d W_2 + b), so the first layer keeps its rows
    for the observation and its bias takes in the condition; all other layers stay.
    """
    (kernel, bias), *_ = actor.split(parameters)
    first_size = kernel.size + bias.size
    observation_size = actor.sizes[0] - conditions.shape[1]
    biases = bias + conditions @ kernel[observation_size:]
    count = len(conditions)
    return np.concatenate(
        [
            np.broadcast_to(kernel[:observation_size].reshape(-1), (count, observation_size * len(bias))),
            biases,
            np.broadcast_to(parameters[first_size:], (count, len(parameters) - first_size)),
        ],
        axis=1,
    ).astype(np.float32)
