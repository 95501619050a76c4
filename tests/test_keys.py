"""Every random number is a pure function of (seed, generation, stream name, index)."""

from __future__ import annotations

import jax
import numpy as np

from dcrl import keys


def numbers(key: jax.Array) -> tuple[int, ...]:
    return tuple(np.asarray(jax.random.key_data(key)).ravel().tolist())


def test_seeds_generations_and_streams_all_differ():
    derived = {
        numbers(keys.stream(keys.generation(keys.root(seed), generation), name))
        for seed in range(5)
        for generation in range(20)
        for name in ("start", "select", "vary", "train", "centroids")
    }
    assert len(derived) == 5 * 20 * 5


def test_a_stream_is_named_not_counted():
    key = keys.generation(keys.root(3), 7)
    before = numbers(keys.stream(key, "start"))
    keys.stream(key, "another purpose")
    assert numbers(keys.stream(key, "start")) == before
    assert numbers(key) == numbers(keys.generation(keys.root(3), 7))


def test_the_ith_of_each_depends_on_i_alone():
    key = keys.root(0)
    ten = [numbers(each) for each in keys.each(key, 10)]
    assert [numbers(each) for each in keys.each(key, 3)] == ten[:3]
    assert len(set(ten)) == 10


def test_streams_draw_uncorrelated_numbers():
    first, second = (jax.random.normal(keys.stream(keys.root(0), name), (20_000,)) for name in ("a", "b"))
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / 20_000**0.5  # four standard errors
