"""Parity: the difference between an exported file and its repertoire on random observations and descriptors.

Maxima are NumPy's, which propagate NaN: an action that is NaN counts as a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dcrl.repertoires.policy import Policy
from dcrl.types import Descriptor, Floats

TOLERANCE = 1e-5  # largest absolute difference of an action that is accepted
SAMPLES = 1000
BATCH = 4  # observations per descriptor
INSIDE = 1e-6  # of the descriptor's range, so that rounding to float32 stays within the bounds

# (observation (B, O), descriptor (D) where the file takes one) -> action (B, A)
Runner: TypeAlias = Callable[[Floats, Floats | None], Floats]


def fixed_difference(run: Runner, policy: Policy, size: int) -> float:
    """The largest absolute difference of a file without descriptor input, on a batch and on a single observation."""
    observations = _observations(size)
    expected = policy(observations)
    alone = _largest(run(observations[:1], None), expected[:1])
    return float(np.max([alone, _largest(run(observations, None), expected)]))


def chosen_difference(run: Runner, policy: Callable[[Floats], Policy], size: int, space: Descriptor) -> float:
    """The largest absolute difference of a file with descriptor input, on small batches and on a single observation.

    Batches, because NumPy and onnxruntime round the product of a single row with a matrix differently.
    """
    batches, low, high = _observations(BATCH * size).reshape(SAMPLES, BATCH, size), space.low, space.high
    margin = INSIDE * np.subtract(high, low)
    descriptors = np.random.default_rng(1).uniform(low + margin, high - margin, (SAMPLES, space.size))
    descriptors = descriptors.astype(np.float32)
    expected = [policy(descriptor)(batch) for batch, descriptor in zip(batches, descriptors, strict=True)]
    differences = [
        _largest(run(batch, descriptor), actions)
        for batch, descriptor, actions in zip(batches, descriptors, expected, strict=True)
    ]
    alone = _largest(run(batches[0, :1], descriptors[0]), expected[0][:1])
    return float(np.max([alone, *differences]))


def _observations(size: int) -> Floats:
    return np.random.default_rng(0).normal(size=(SAMPLES, size)).astype(np.float32)


def _largest(actions: Floats, expected: Floats) -> float:
    """Infinite where shapes differ."""
    if actions.shape != expected.shape:
        return float("inf")
    return float(np.abs(actions.astype(np.float64) - expected).max())
