"""What the tests share: random policies, start keys, and byte-for-byte comparison of evaluations."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest

from dcrl import keys
from dcrl.networks import Layers, policy_layers
from dcrl.types import Evaluation, Floats

Batch = tuple[Floats, jax.Array, Layers]


@pytest.fixture(scope="session")
def policies() -> Callable[..., Batch]:
    """`policies(task, count, seed=1)`: random genotypes, one start key each, and their layers, for `Simulator.play`."""

    def make(task: object, count: int, seed: int = 1) -> Batch:
        layers = policy_layers(task.observation_size, task.action_size)
        genotypes = np.asarray(jax.vmap(layers.init)(keys.each(keys.root(seed), count)))
        return genotypes, keys.each(keys.stream(keys.root(seed), "start"), count), layers

    return make


@pytest.fixture(scope="session")
def outcome() -> Callable[..., list[bytes]]:
    """`outcome(evaluation, rows)`: one `bytes` an episode, of everything that it lived through and came to."""

    def make(evaluation: Evaluation, rows: object = None) -> list[bytes]:
        every = np.arange(len(evaluation.fitness)) if rows is None else np.asarray(rows)
        return [_bytes(evaluation, row) for row in every]

    return make


def _bytes(evaluation: Evaluation, row: int) -> bytes:
    parts = [evaluation.fitness[row], evaluation.descriptor[row], evaluation.steps[row], evaluation.valid[row]]
    lived = evaluation.transitions
    if lived is not None:
        steps = lived.steps[row]
        parts += [lived.observation[row, : steps + 1], lived.state_descriptor[row, : steps + 1]]
        parts += [lived.action[row, :steps], lived.reward[row, :steps], lived.terminated[row]]
    return b"".join(np.asarray(part).tobytes() for part in parts)
