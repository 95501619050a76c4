"""Policies as NumPy `.npz` files: `kernel_0`, `bias_0`, `kernel_1`, ... and what is needed to choose one.

    elite       kernel_i (in, out), bias_i (out)
    repertoire  kernel_i (E, in, out), bias_i (E, out), and centroids (E, D), descriptors (E, D), fitness (E)
    actor       like an elite, with D more rows of kernel_0 for the descriptor, and descriptor_low, descriptor_high (D)

All arrays are float32 except the actor's bounds, which are float64. Nothing is pickled.
"""

from __future__ import annotations

import io
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcrl.deployment.parity import Runner
from dcrl.networks.policies import Layers, act
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats

Arrays: TypeAlias = dict[str, NDArray[Any]]


def elite(found: Repertoire, cell: int) -> bytes:
    return _file(named_layers(found.layers, found.genotype[cell]))


def repertoire(found: Repertoire) -> bytes:
    cells = found.occupied
    about = {
        "centroids": found.centroids[cells],
        "descriptors": found.descriptor[cells],
        "fitness": found.fitness[cells],
    }
    return _file(about | named_layers(found.layers, found.genotype[cells]))


def actor(found: Repertoire) -> bytes:
    bounds = {"descriptor_low": np.asarray(found.space.low), "descriptor_high": np.asarray(found.space.high)}
    return _file(bounds | named_layers(found.actor_layers, np.asarray(found.actor_parameters)))


def named_layers(layers: Layers, parameters: Floats) -> Arrays:
    """`kernel_0`, `bias_0`, `kernel_1`, ... of parameters (..., P)."""
    named: Arrays = {}
    for i, (kernel, bias) in enumerate(layers.split(parameters)):
        named |= {f"kernel_{i}": kernel, f"bias_{i}": bias}
    return named


def read(content: bytes) -> Arrays:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def runner(content: bytes) -> Runner:
    """The policy of a file, read as `docs/deploy.md` describes."""
    arrays = read(content)
    count = sum(name.startswith("kernel_") for name in arrays)

    def run(observation: Floats, descriptor: Floats | None) -> Floats:
        layers = [(arrays[f"kernel_{i}"], arrays[f"bias_{i}"]) for i in range(count)]
        hidden: Floats = observation
        if "descriptors" in arrays:
            offsets = arrays["descriptors"] - np.asarray(descriptor, np.float64)
            nearest = np.argmin(np.square(offsets).sum(axis=1))
            layers = [(kernels[nearest], biases[nearest]) for kernels, biases in layers]
        elif "descriptor_low" in arrays:
            low, high = arrays["descriptor_low"], arrays["descriptor_high"]
            condition = (2 * (np.asarray(descriptor, np.float64) - low) / (high - low) - 1).astype(np.float32)
            hidden = np.concatenate([observation, np.tile(condition, (len(observation), 1))], axis=1)
        return act(layers, hidden)

    return run


def _file(arrays: Arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()
