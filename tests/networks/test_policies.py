"""Policies as flat parameter vectors."""

from __future__ import annotations

from itertools import pairwise

import jax
import numpy as np
import pytest

from dcrl import keys
from dcrl.networks.perceptrons import act, apply, init, join
from dcrl.networks.policies import Layers, act_each, policy_layers

LAYERS = policy_layers(5, 3, (16, 8))


def random_genotypes(layers: Layers, count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, layers.parameters)).astype(np.float32)


def by_hand(sizes: tuple[int, ...], genotype: np.ndarray, observation: np.ndarray) -> np.ndarray:
    """An independent forward pass in double precision, neuron by neuron."""
    values, at = observation.astype(np.float64), 0
    for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        following = np.zeros(fan_out)
        for j in range(fan_out):
            following[j] = genotype[at + fan_in * fan_out + j]
            for i in range(fan_in):
                following[j] += values[i] * float(genotype[at + i * fan_out + j])
        at += (fan_in + 1) * fan_out
        values = np.maximum(following, 0) if layer < len(sizes) - 2 else np.tanh(following)
    return values


def test_a_layer_is_its_kernel_row_by_row_then_its_bias():
    layers = Layers((2, 3, 1))
    (kernel, bias), (last, last_bias) = layers.split(np.arange(13))
    np.testing.assert_array_equal(kernel, [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(bias, [6, 7, 8])
    np.testing.assert_array_equal(last, [[9], [10], [11]])
    np.testing.assert_array_equal(last_bias, [12])
    assert layers.parameters == 13


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_split_and_join_are_inverse(lead):
    genotypes = np.random.default_rng(1).normal(size=(*lead, LAYERS.parameters)).astype(np.float32)
    np.testing.assert_array_equal(join(LAYERS.split(jax.numpy.asarray(genotypes))), genotypes)


def test_splitting_copies_nothing():
    genotypes = random_genotypes(LAYERS, 4)
    assert all(np.shares_memory(part, genotypes) for layer in LAYERS.split(genotypes) for part in layer)


def test_numpy_jax_and_a_loop_by_hand_agree():
    genotypes = random_genotypes(LAYERS, 6)
    observations = np.random.default_rng(2).normal(size=(6, 5)).astype(np.float32)
    expected = [by_hand(LAYERS.sizes, g, o) for g, o in zip(genotypes, observations, strict=True)]
    np.testing.assert_allclose(act_each(LAYERS.split(genotypes), observations), expected, atol=2e-5)
    in_jax = jax.vmap(lambda genotype, observation: act(LAYERS.split(genotype), observation))(genotypes, observations)
    np.testing.assert_allclose(in_jax, expected, atol=2e-5)
    np.testing.assert_allclose(np.tanh(apply(LAYERS.split(genotypes[0]), observations[0])), expected[0], atol=2e-5)


@pytest.mark.parametrize(("observations", "actions"), [(30, 8), (18, 6), (247, 17)])
def test_a_policys_actions_do_not_depend_on_its_neighbours(observations, actions):
    layers = policy_layers(observations, actions)
    genotypes = random_genotypes(layers, 37)
    seen = np.random.default_rng(3).normal(size=(37, observations)).astype(np.float32)
    together = act_each(layers.split(genotypes), seen)
    order = np.random.default_rng(4).permutation(37)
    shuffled = act_each(layers.split(genotypes[order]), seen[order])
    np.testing.assert_array_equal(shuffled, together[order])
    for i in range(37):
        np.testing.assert_array_equal(act_each(layers.split(genotypes[i : i + 1]), seen[i : i + 1])[0], together[i])


def test_initial_kernels_fill_their_bounds_and_biases_are_zero():
    layers = policy_layers(30, 8)
    genotype = init(layers, keys.root(0))
    assert genotype.shape == (layers.parameters,)
    assert genotype.dtype == np.float32
    for fan_in, (kernel, bias) in zip(layers.sizes, layers.split(np.asarray(genotype)), strict=False):
        bound = (3 / fan_in) ** 0.5
        assert 0.98 * bound < np.abs(kernel).max() <= bound
        # a uniform variable in +-bound has variance bound^2 / 3 = 1 / fan_in
        assert kernel.var() == pytest.approx(1 / fan_in, rel=0.1)
        assert abs(kernel.mean()) < 4 * (1 / fan_in / kernel.size) ** 0.5
        assert not bias.any()
    assert (genotype != init(layers, keys.root(1))).any()


def test_policy_sizes_of_the_paper():
    assert policy_layers(30, 8).sizes == (30, 128, 128, 8)
    assert policy_layers(30, 8).parameters == 30 * 128 + 128 + 128 * 128 + 128 + 128 * 8 + 8 == 21_512


@pytest.mark.parametrize("sizes", [(), (4,), (4, 0, 2), (0, 3), (4, -1)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="at least an input and an output"):
        Layers(sizes)


@pytest.mark.parametrize("size", [LAYERS.parameters - 1, LAYERS.parameters + 1, 0])
def test_a_vector_of_the_wrong_size_is_refused(size):
    with pytest.raises(ValueError, match=f"{LAYERS.parameters} parameters"):
        LAYERS.split(np.zeros((2, size), np.float32))
