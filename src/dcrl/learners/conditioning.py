"""Descriptors as conditions: the normalised space and the similarity.

Both are in [-1, 1]^D, to whose corners the descriptor's bounds are mapped. The length scale L = 0.1
is then 3 m on the ants, 1 m on the humanoid and 0.05 of a contact rate.
"""

from __future__ import annotations

import numpy as np

from dcrl.types import Descriptor, Floats


def normalise(descriptor: Descriptor, values: Floats) -> Floats:
    """(..., D) from the descriptor's units to [-1, 1]."""
    low, high = np.asarray(descriptor.low), np.asarray(descriptor.high)
    return np.asarray(2 * (values - low) / (high - low) - 1, np.float32)


def similarity(achieved: Floats, target: Floats, length_scale: float) -> Floats:
    """S(d, d') = exp(-|d - d'| / L) of normalised descriptors (Section 3.1 of the paper); 1 exactly where d = d'."""
    distance = np.linalg.norm(achieved.astype(np.float64) - target.astype(np.float64), axis=-1)
    return np.asarray(np.exp(-distance / length_scale), np.float32)
