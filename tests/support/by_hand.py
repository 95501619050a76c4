"""Networks, their gradients and Adam written out in NumPy in double precision: what the learner is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import jax
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass
class Network:
    """A ReLU network with a linear end, from a flat vector: layer by layer the kernel (in x out), then the bias.

    If it is `normalised`, so is each row of a hidden layer, before the ReLU.
    """

    sizes: tuple[int, ...]
    parameters: Values
    normalised: bool = False

    def layers(self) -> list[tuple[Values, Values]]:
        found, at = [], 0
        for fan_in, fan_out in pairwise(self.sizes):
            kernel = self.parameters[at : at + fan_in * fan_out].reshape(fan_in, fan_out)
            at += fan_in * fan_out
            found.append((kernel, self.parameters[at : at + fan_out]))
            at += fan_out
        assert at == len(self.parameters)
        return found

    def forward(self, inputs: Values) -> list[Values]:
        """What goes into each layer (N, in), then the output (N, out)."""
        values, layers = [inputs], self.layers()
        for i, (kernel, bias) in enumerate(layers):
            before = values[-1] @ kernel + bias
            if self.normalised and i < len(layers) - 1:
                before, _ = normalised(before)
            values.append(np.where(before > 0, before, 0.0) if i < len(layers) - 1 else before)
        return values

    def backward(self, values: list[Values], output_gradient: Values) -> tuple[Values, Values]:
        """The gradient of a sum over rows, given the output's (N, out): of the parameters and of the inputs."""
        gradient, pieces = output_gradient, []
        for i, (kernel, bias) in reversed(list(enumerate(self.layers()))):
            if i < len(self.sizes) - 2:
                gradient = gradient * (values[i + 1] > 0)
                if self.normalised:  # neither the mean nor the scale of a row matters
                    row, deviation = normalised(values[i] @ kernel + bias)
                    along = row * (gradient * row).mean(axis=1, keepdims=True)
                    gradient = (gradient - gradient.mean(axis=1, keepdims=True) - along) / deviation
            pieces += [gradient.sum(axis=0), (values[i].T @ gradient).reshape(-1)]
            gradient = gradient @ kernel.T
        return np.concatenate(pieces[::-1]), gradient


def normalised(values: Values) -> tuple[Values, Values]:
    """Each row with mean 0 and variance 1, and the rows' standard deviations (Ba et al. 2016, without parameters)."""
    deviation = np.sqrt(values.var(axis=1, keepdims=True) + 1e-5)
    return (values - values.mean(axis=1, keepdims=True)) / deviation, deviation


@dataclass
class Adam:
    """Kingma & Ba (2015), Algorithm 1."""

    rate: float
    mean: Values | float = 0.0
    square: Values | float = 0.0
    count: int = 0

    def step(self, gradient: Values) -> Values:
        self.count += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean, square = self.mean / (1 - 0.9**self.count), self.square / (1 - 0.999**self.count)
        return -self.rate * mean / (np.sqrt(square) + 1e-8)


def doubles(values: object) -> Values:
    return np.array(values, np.float64)


def vector(parameters: object) -> Values:
    """A learner's network as one flat vector."""
    return np.concatenate([doubles(leaf).reshape(-1) for leaf in jax.tree.leaves(parameters)])


def ascend(
    policy: Network,
    seen: Values,
    critic: Network,
    observation: Values,
    condition: Values,
    adam: Adam,
    penalty: float = 0.0,
) -> Values:
    """Policy parameters after one Adam step up the mean of Q(s, pi(seen) | condition).

    A `penalty` c subtracts c mean |Q| mean u^2, u being the outputs before the tanh.
    """
    thought = policy.forward(seen)
    action = np.tanh(thought[-1])
    judged = critic.forward(np.concatenate([observation, action, condition], axis=1))
    descent = np.full((len(seen), 1), -1 / len(seen))
    _, of_inputs = critic.backward(judged, descent)
    first = observation.shape[1]
    of_action = of_inputs[:, first : first + action.shape[1]]
    of_penalty = penalty * np.abs(judged[-1]).mean() * 2 * thought[-1] / action.size
    gradient, _ = policy.backward(thought, of_action * (1 - action**2) + of_penalty)
    return policy.parameters + adam.step(gradient)
