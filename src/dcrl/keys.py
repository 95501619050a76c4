"""Randomness: every random number is a pure function of (seed, generation, stream name, index).

No state ever holds a key, so a resumed run draws what an uninterrupted one would have drawn.
"""

from __future__ import annotations

import zlib

import jax


def root(seed: int) -> jax.Array:
    """The key a run starts from."""
    return jax.random.key(seed)


def generation(key: jax.Array, number: int) -> jax.Array:
    """The key of one generation."""
    return jax.random.fold_in(key, number)


def stream(key: jax.Array, name: str) -> jax.Array:
    """An independent key for one purpose, named so that adding a purpose changes no other."""
    return jax.random.fold_in(key, zlib.crc32(name.encode()))


def each(key: jax.Array, count: int) -> jax.Array:
    """`count` keys, the i-th of which depends on i alone and not on `count`."""
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jax.numpy.arange(count))
