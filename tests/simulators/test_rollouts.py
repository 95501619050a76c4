"""Policies + task + simulator -> evaluations, and what is refused on the way."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

import dcrl
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.point import point_omni
from dcrl.tasks.walker2d import walker2d_uni

PARAMETERS = 17_538  # of a policy of the point
STILL = np.zeros((3, PARAMETERS), np.float32)


def test_one_seed_gives_every_policy_the_same_start():
    evaluation = dcrl.rollout("point_omni", STILL, seed=4)
    assert len(np.unique(evaluation.descriptor, axis=0)) == 1
    own = dcrl.rollout("point_omni", STILL, seed=[4, 5, 6])
    assert len(np.unique(own.descriptor, axis=0)) == 3
    np.testing.assert_array_equal(own.descriptor[0], evaluation.descriptor[0])


@pytest.mark.parametrize(
    "task", [point_omni, dataclasses.replace(walker2d_uni, horizon=60)], ids=lambda task: task.name
)
def test_equal_seeds_give_equal_bytes_and_others_do_not(task, policies, outcome):
    genotypes, _, _ = policies(task, 6)
    first, again, other = (outcome(dcrl.rollout(task, genotypes, seed=seed)) for seed in (0, 0, 1))
    assert first == again
    assert not set(first) & set(other)


def test_threads_and_splits_do_not_matter(policies, outcome):
    genotypes, _, _ = policies(point_omni, 6)
    whole = outcome(dcrl.rollout("point_omni", genotypes, seed=range(6), threads=1))
    assert outcome(dcrl.rollout("point_omni", genotypes, seed=range(6), threads=2)) == whole
    parts = [dcrl.rollout("point_omni", genotypes[rows], seed=list(rows)) for rows in (range(0, 1), range(1, 6))]
    assert [each for part in parts for each in outcome(part)] == whole


def test_without_a_record_nothing_else_changes(policies):
    genotypes, _, _ = policies(point_omni, 6)
    recorded, unrecorded = (dcrl.rollout("point_omni", genotypes, record=record) for record in (True, False))
    assert unrecorded.transitions is None
    assert recorded.transitions.observation.shape == (6, 51, 5)
    np.testing.assert_array_equal(recorded.fitness, unrecorded.fitness)
    np.testing.assert_array_equal(recorded.descriptor, unrecorded.descriptor)


def test_a_smaller_policy_may_be_given():
    evaluation = dcrl.rollout("point_omni", np.zeros((2, 5 * 4 + 4 + 4 * 2 + 2)), hidden=(4,))
    np.testing.assert_array_equal(evaluation.fitness, 50)


def test_a_linear_policy_is_a_policy():
    evaluation = dcrl.rollout("point_omni", np.zeros((2, 5 * 2 + 2)), hidden=())
    np.testing.assert_array_equal(evaluation.fitness, 50)


@pytest.mark.parametrize("shape", [(3, PARAMETERS - 1), (3, PARAMETERS + 1), (PARAMETERS,), (0, PARAMETERS), (1, 1, 1)])
def test_genotypes_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"genotypes for point_omni must be \(B, 17538\).*5 - 128 - 128 - 2, got"):
        dcrl.rollout("point_omni", np.zeros(shape))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_genotypes_that_are_no_numbers_are_refused(value):
    genotypes = STILL.copy()
    genotypes[1, 5] = value
    with pytest.raises(ValueError, match="policy 1 of 3 has NaN or infinite parameters"):
        dcrl.rollout("point_omni", genotypes)


@pytest.mark.parametrize("seed", [-1, 0.5, 1.0, True, None, 2**32, [0, 1, -1], [0.0, 1.0, 2.0], [], "zero"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match="a seed is a whole number from 0 to"):
        dcrl.rollout("point_omni", STILL, seed=seed)


@pytest.mark.parametrize("seed", [[0, 1], range(4), [[0, 1, 2]]])
def test_there_is_one_seed_or_one_per_policy(seed):
    with pytest.raises(ValueError, match="one for each of the 3 policies"):
        dcrl.rollout("point_omni", STILL, seed=seed)


def test_seeds_up_to_two_to_the_thirty_second_differ():
    found = {np.asarray(jax.random.key_data(start_keys(seed, 1))).tobytes() for seed in (0, 1, 2**31, 2**32 - 1)}
    assert len(found) == 4


def test_a_descriptor_outside_its_bounds_is_an_error_where_it_may_not_be_clipped():
    narrow = dataclasses.replace(point_omni.descriptor, low=(-1e-4,) * 2, high=(1e-4,) * 2)
    clipped = dcrl.rollout(dataclasses.replace(point_omni, descriptor=narrow), STILL)
    assert (np.abs(clipped.descriptor) == np.float32(1e-4)).any()
    strict = dataclasses.replace(point_omni, descriptor=dataclasses.replace(narrow, clip=False))
    with pytest.raises(
        ValueError, match=r"descriptor 'final .' must lie in \[-0.0001, 0.0001\], but policy 0 measured"
    ):
        dcrl.rollout(strict, STILL)


@pytest.mark.parametrize("simulator", ["brax", "gymnasium"])
def test_an_unknown_or_unfitting_simulator_is_refused(simulator):
    with pytest.raises(ValueError, match=f"point_omni runs on mujoco or mjx, got simulator '{simulator}'"):
        dcrl.rollout("point_omni", STILL, simulator=simulator)
