"""Parity: whether an exported file acts as the repertoire it came from, on random observations and descriptors.

Maxima are NumPy's, which let NaN through: an action that is no number is a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dcrl.runs.repertoire import Policy
from dcrl.types import Descriptor, Floats

TOLERANCE = 1e-5  # the largest absolute difference of an action that is kept
SAMPLES = 1000
INSIDE = 1e-6  # of the descriptor's range: rounding to float32 stays within the bounds

# (observation (B, O), descriptor (D) where the file takes one) -> action (B, A)
Runner: TypeAlias = Callable[[Floats, Floats | None], Floats]


def fixed_difference(run: Runner, policy: Policy, size: int) -> float:
    """The largest absolute difference of a file without descriptor input, in one batch and one by one."""
    observations = _observations(size)
    expected = policy(observations)
    singly = np.concatenate([run(one[None], None) for one in observations])
    return float(np.max([_largest(run(observations, None), expected), _largest(singly, expected)]))


def chosen_difference(run: Runner, policy: Callable[[Floats], Policy], size: int, space: Descriptor) -> float:
    """The largest absolute difference of a file with descriptor input: each observation has a descriptor of its own.

    The first descriptor is asked of all observations in one batch too.
    """
    observations, low, high = _observations(size), np.asarray(space.low), np.asarray(space.high)
    margin = INSIDE * (high - low)
    descriptors = np.random.default_rng(1).uniform(low + margin, high - margin, (SAMPLES, space.size))
    descriptors = descriptors.astype(np.float32)
    singly = (
        _largest(run(one[None], descriptor), policy(descriptor)(one[None]))
        for one, descriptor in zip(observations, descriptors, strict=True)
    )
    together = _largest(run(observations, descriptors[0]), policy(descriptors[0])(observations))
    return float(np.max([together, *singly]))


def _observations(size: int) -> Floats:
    return np.random.default_rng(0).normal(size=(SAMPLES, size)).astype(np.float32)


def _largest(actions: Floats, expected: Floats) -> float:
    """Infinite where shapes differ."""
    if actions.shape != expected.shape:
        return float("inf")
    return float(np.abs(actions.astype(np.float64) - expected).max())
