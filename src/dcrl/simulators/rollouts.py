"""Policies + task + simulator -> evaluations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
from numpy.typing import ArrayLike

from dcrl import keys, simulators
from dcrl.networks.policies import HIDDEN, Layers, policy_layers
from dcrl.simulators.simulator import Simulator
from dcrl.tasks import registry
from dcrl.types import Descriptor, Evaluation, Floats


def rollout(
    task: str | registry.AnyTask,
    genotypes: ArrayLike,
    seed: int | Sequence[int] = 0,
    *,
    simulator: str | None = None,
    hidden: tuple[int, ...] = HIDDEN,
    threads: int | None = None,
    record: bool = True,
) -> Evaluation:
    """Play one episode of each policy.

    `genotypes` is (B, P) float32: a policy's layers in order, each with its kernel (in x out, row-major)
    and then its bias. A single `seed` gives every policy the same start state, so that policies are
    compared under equal conditions; a sequence gives each its own (repeat a policy with
    `seed=range(512)` to see how it varies). The same seed gives byte-identical results, for any split
    of a batch and any number of threads (on `mjx`, up to float32 rounding).
    `record=False` saves the memory of the transitions.
    """
    task = registry.get(task)
    layers = policy_layers(task.observation_size, task.action_size, hidden)
    batch = checked(genotypes, layers, task.name)
    starts = start_keys(seed, len(batch))
    with simulators.make(task, simulator, threads) as chosen:
        return evaluate(chosen, task.descriptor, batch, starts, layers, record=record)


def evaluate(
    simulator: Simulator, descriptor: Descriptor, genotypes: Floats, starts: jax.Array, layers: Layers, *, record: bool
) -> Evaluation:
    """Play one episode of each policy (B, P) from the start its key (B,) gives; descriptors within bounds."""
    played = simulator.play(genotypes, starts, layers, record=record)
    return dataclasses.replace(played, descriptor=bounded(played.descriptor, descriptor))


def start_keys(seed: int | Sequence[int], count: int) -> jax.Array:
    """(count,) keys of the start states for `seed`."""
    seeds = np.asarray(seed if np.ndim(seed) == 0 else list(seed))  # type: ignore[arg-type]
    if seeds.dtype.kind not in "iu" or (seeds < 0).any() or (seeds >= 2**32).any():
        raise ValueError(f"a seed is a whole number from 0 to 2^32 - 1, got {seed!r}")
    if seeds.ndim > 1 or (seeds.ndim == 1 and len(seeds) != count):
        raise ValueError(f"give one seed, or one for each of the {count} policies; got {seeds.shape}")
    starts: jax.Array = _start_keys(np.broadcast_to(seeds, count).astype(np.uint32))
    return starts


@jax.jit
@jax.vmap
def _start_keys(seed: jax.Array) -> jax.Array:
    return keys.stream(jax.random.key(seed), "start")


def checked(genotypes: ArrayLike, layers: Layers, name: str) -> Floats:
    """Policies (B, P) as float32, refused if they do not fit or are not finite."""
    given = np.asarray(genotypes)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"genotypes for {name} must be real numbers, got an array of {given.dtype}")
    batch = given.astype(np.float32, copy=False)
    if batch.ndim != 2 or batch.shape[1] != layers.parameters or not len(batch):
        raise ValueError(
            f"genotypes for {name} must be (B, {layers.parameters}), B at least 1, for policies of layers "
            f"{' - '.join(map(str, layers.sizes))}, got {batch.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(batch).all(axis=1))
    if len(bad):
        raise ValueError(
            f"genotypes must be finite, but policy {bad[0]} of {len(batch)} has NaN or infinite parameters"
        )
    return batch


def bounded(values: Floats, descriptor: Descriptor) -> Floats:
    """Descriptors (B, D) within their bounds: clipped if the descriptor allows it, refused otherwise."""
    low, high = np.asarray(descriptor.low, np.float32), np.asarray(descriptor.high, np.float32)
    if not descriptor.clip:
        outside = np.argwhere((values < low - 1e-6) | (values > high + 1e-6))  # NaN, an invalid one, passes
        if len(outside):
            row, column = outside[0]
            raise ValueError(
                f"descriptor '{descriptor.names[column]}' must lie in [{low[column]:g}, {high[column]:g}], but policy "
                f"{row} measured {values[row, column]:g}; widen the bounds or set `clip=True`"
            )
    return np.clip(values, low, high)
