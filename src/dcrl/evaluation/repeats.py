"""Repeated episodes of policies from independent starts: the data behind every number of reproducibility.

The policies are the archive's elites and, after them, the actor conditioned on the centroid of each occupied cell.
Episodes are played repeat by repeat: first all policies once, then all of them again. So interrupted work is a smaller
number of repeats, and more repeats continue from fewer.

Repeat r of cell c starts from the seed `start_seeds(seed, c, r)`, for the elite and for the actor, independently of
the number of repeats, of the chunks and of the threads. `dcrl.rollout` and Gymnasium's `reset` take these seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcrl import keys
from dcrl.learners.conditioning import normalise
from dcrl.networks.policies import specialise
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.words import listed
from dcrl.simulators.rollouts import evaluate, start_keys
from dcrl.simulators.simulator import Simulator
from dcrl.tasks import registry
from dcrl.types import Array, Descriptor, Floats, Ints

CHUNK = 1024  # episodes per batch; more is no faster, and Ctrl-C waits for them
CHUNK_BYTES = 192 * 2**20  # of their genotypes


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """The outcomes of R episodes each of M policies: N elites, or N elites and the actor on their N cells.

    Only the first `done` episodes, in the order of repeats and then of policies, have been played; NaN marks an
    invalid episode, whose simulation diverged.
    """

    space: Descriptor
    centroids: Floats  # (C, D)
    cells: Ints  # (N,) the occupied cells
    stored_fitness: Floats  # (N,) in the archive
    stored_descriptor: Floats  # (N, D)
    fitness: Floats  # (R, M) float32
    descriptor: Floats  # (R, M, D) float32
    steps: Ints  # (R, M) int32, control steps simulated
    done: int = 0

    @property
    def policies(self) -> int:
        return len(self.fitness[0])

    @property
    def total(self) -> int:
        """The number of episodes, played or not."""
        return self.fitness.size

    @property
    def whole(self) -> int:
        """Repeats that all policies have completed."""
        return self.done // self.policies

    @property
    def has_actor(self) -> bool:
        return self.policies > len(self.cells)


def unplayed(repertoire: Repertoire, repeats: int, *, actor: bool) -> Repeats:
    """Repeats with no episode played yet; the actor is left out where there is none."""
    if not isinstance(repeats, int | np.integer) or repeats < 1:
        raise ValueError(f"the number of repeats must be at least 1, got {repeats}")
    cells = np.flatnonzero(repertoire.occupied)
    if not len(cells):
        raise ValueError("the repertoire is empty: it has no elite to evaluate")
    policies = len(cells) * (2 if actor and repertoire.actor_parameters is not None else 1)
    return Repeats(
        space=repertoire.space,
        centroids=repertoire.centroids,
        cells=cells,
        stored_fitness=repertoire.fitness[cells],
        stored_descriptor=repertoire.descriptor[cells],
        fitness=np.full((repeats, policies), np.nan, np.float32),
        descriptor=np.full((repeats, policies, repertoire.space.size), np.nan, np.float32),
        steps=np.zeros((repeats, policies), np.int32),
    )


def resized(done: Repeats, repeats: int) -> Repeats:
    """The same episodes with room for another number of repeats; those beyond are dropped."""

    def fitted(array: Array, value: float) -> Array:
        room = np.full((max(0, repeats - len(array)), *array.shape[1:]), value, array.dtype)
        return np.concatenate([array[:repeats], room])

    return replace(
        done,
        fitness=fitted(done.fitness, np.nan),
        descriptor=fitted(done.descriptor, np.nan),
        steps=fitted(done.steps, 0),
        done=min(done.done, repeats * done.policies),
    )


def play(
    repertoire: Repertoire, repeats: Repeats, simulator: Simulator, seed: int = 0, chunk: int | None = None
) -> Iterator[Repeats]:
    """Play the remaining episodes in chunks and yield the repeats after each; arrays are filled in place."""
    size = chunk or chunk_size(repertoire)
    while repeats.done < repeats.total:
        episodes = np.arange(repeats.done, min(repeats.done + size, repeats.total))
        repeat, policy = np.divmod(episodes, repeats.policies)
        cells = repeats.cells[policy % len(repeats.cells)]
        starts = start_keys(start_seeds(seed, cells, repeat).tolist(), len(episodes))
        genotypes = genotypes_of(repertoire, cells, policy >= len(repeats.cells))
        played = evaluate(simulator, repertoire.space, genotypes, starts, repertoire.layers, record=False)
        repeats.fitness[repeat, policy] = played.fitness
        repeats.descriptor[repeat, policy] = played.descriptor
        repeats.steps[repeat, policy] = played.steps
        repeats = replace(repeats, done=repeats.done + len(episodes))
        yield repeats


def chunk_size(repertoire: Repertoire) -> int:
    """Episodes per chunk, so that memory stays bounded for policies of any size."""
    return int(np.clip(CHUNK_BYTES // (4 * repertoire.layers.parameters), 1, CHUNK))


def start_seeds(seed: int, cell: ArrayLike, repeat: ArrayLike) -> NDArray[np.uint32]:
    """The seeds of the starts, one per repeat of a cell: 32 bits of the key (seed, "reproducibility", cell, repeat).

    Training draws its starts from other streams of its seed, so these are independent of those that chose the elites.
    """
    cells, repeats = np.broadcast_arrays(np.asarray(cell, np.uint32), np.asarray(repeat, np.uint32))
    return np.asarray(_bits(keys.stream(keys.root(seed), "reproducibility"), cells, repeats))


@jax.jit
def _bits(key: jax.Array, cells: jax.Array, repeats: jax.Array) -> jax.Array:
    def one(cell: jax.Array, repeat: jax.Array) -> jax.Array:
        return jax.random.bits(jax.random.fold_in(jax.random.fold_in(key, cell), repeat))

    return jax.vmap(one)(cells.ravel(), repeats.ravel()).reshape(cells.shape)


def genotypes_of(repertoire: Repertoire, cells: Ints, of_actor: NDArray[np.bool_]) -> Floats:
    """(B, P) the elite of each cell, or the actor conditioned on the cell's centroid."""
    genotypes: Floats = repertoire.genotype[cells]
    if of_actor.any():
        assert repertoire.actor_parameters is not None
        conditions = normalise(repertoire.space, repertoire.centroids[cells[of_actor]])
        genotypes[of_actor] = specialise(repertoire.actor_layers, repertoire.actor_parameters, conditions)
    return genotypes


def matching_task(repertoire: Repertoire, reference: str | None = None) -> registry.AnyTask:
    """The repertoire's task as installed; a ValueError if its shapes or descriptor are not those of the policies.

    `reference` is the name by which the task is found here, if that is another than the repertoire's.
    """
    task = registry.get(reference or repertoire.task)
    expected = (task.observation_size, task.action_size, task.descriptor)
    found = (repertoire.layers.sizes[0], repertoire.layers.sizes[-1], repertoire.space)
    if expected != found:
        raise ValueError(
            f"the repertoire does not match the installed task {repertoire.task}: it has {found[0]} observations, "
            f"{found[1]} actions and the descriptor {listed(found[2].names)} from {found[2].low} to "
            f"{found[2].high}, the task {expected[0]}, {expected[1]} and {listed(expected[2].names)} from "
            f"{expected[2].low} to {expected[2].high}"
        )
    return task
