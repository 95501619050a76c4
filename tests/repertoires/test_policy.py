"""Policies of a repertoire: their actions, errors, descriptions, and what can be done with them as values."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import Layers
from support.making import made
from support.random_runs import save_run

OBSERVATION = [0.1, -0.4, 0.3, 0.2, 0.8]


@pytest.fixture(scope="module")
def point(tmp_path_factory) -> dcrl.Repertoire:
    return dcrl.load(save_run(tmp_path_factory.mktemp("policies") / "run", "point_omni"))


def test_actions_by_hand():
    repertoire = made([1, 2, np.nan, 3])  # one layer: kernel = fitness, bias = 10 x fitness
    assert repertoire.policy(1)([0.5]) == np.tanh(np.float32(21))
    small = dataclasses.replace(repertoire, genotype=repertoire.genotype / 100)
    np.testing.assert_allclose(small.policy(3)([[0.5], [-10]]), np.tanh([[0.315], [0.0]]), atol=1e-7)


def test_any_leading_axes_are_observations(point):
    policy = point.policy(1)
    one = policy(OBSERVATION)
    assert (one.dtype, one.shape, policy([OBSERVATION] * 3).shape) == (np.float32, (2,), (3, 2))
    many = policy(np.broadcast_to(np.array(OBSERVATION), (2, 3, 5)))
    np.testing.assert_allclose(many, np.broadcast_to(one, (2, 3, 2)), rtol=1e-6)
    assert policy(np.zeros((0, 5))).shape == (0, 2)
    for wrong in (OBSERVATION[:4], 0.5, [[OBSERVATION[:2]]]):
        with pytest.raises(ValueError, match="an observation of point_omni has 5 numbers, got an array of shape"):
            policy(wrong)


@pytest.mark.parametrize("cell", [-1, 12, 10**6, True, False, 1.0, "1", None, np.bool_(True)])
def test_what_is_no_cell_is_refused(point, cell):
    with pytest.raises(ValueError, match=r"^a cell is a whole number from 0 to 11, got "):
        point.policy(cell)


def test_an_empty_cell_is_refused_with_its_nearest_elite(point):
    near = point.nearest(point.centroids[3], 1)[0]
    with pytest.raises(ValueError, match=f"^cell 3 is empty; the nearest elite is in cell {near}$"):
        point.policy(3)
    with pytest.raises(ValueError, match=r"^the repertoire is empty$"):
        made([np.nan] * 4).policy(0)


def test_a_policy_says_which_it_is(point):
    elite, actor = point.policy(np.int64(1)), point.actor([1.5, -2])
    x, y = point.descriptor[1]
    assert (elite.kind, elite.cell, elite.fitness) == ("elite", 1, float(point.fitness[1]))
    assert repr(elite) == (
        f"<Policy: elite of cell 1 of point_omni, descriptor ({x:.3g}, {y:.3g}), fitness {point.fitness[1]:,.2f}, "
        "layers 5 - 16 - 12 - 2>"
    )
    assert (actor.kind, actor.cell, actor.fitness) == ("actor", None, None)
    assert repr(actor) == "<Policy: actor conditioned on 1.5, -2 of point_omni, layers 5 - 16 - 12 - 2>"


def test_the_specification_of_a_built_in_task_has_labels_and_ranges(point):
    found = point.actor([1.5, -2]).specification
    assert (found.observation_size, found.action_size, found.descriptor) == (5, 2, (1.5, -2.0))
    assert len(found.observation_labels) == 5
    assert (len(found.action_labels), found.action_low, found.action_high) == (2, -1, 1)
    assert (found.control_low, found.control_high) == ((-1.0, -1.0), (1.0, 1.0))
    assert (found.space.names, found.space.unit) == (("final x", "final y"), "m")


@pytest.mark.parametrize("task", ["line", "nowhere.py:task", "point_omni"])
def test_a_specification_without_labels(task):
    """An own task is not imported, and a built-in one of other sizes is another task."""
    found = made([1] * 4, task=task).policy(2).specification
    assert (found.observation_size, found.action_size, found.descriptor) == (1, 1, (2.5, 1.0))
    assert (found.observation_labels, found.action_labels, found.control_low) == (None, None, None)


def test_equal_policies_are_equal(point):
    policy = point.policy(1)
    assert policy == point.policy_for(point.descriptor[1])
    assert hash(policy) == hash(point.policy_for(point.descriptor[1]))
    changed = point.genotype[1] + np.float32(1e-3)
    different = (
        point.policy(2),
        point.actor(point.descriptor[1]),
        dataclasses.replace(policy, genotype=changed),
        dataclasses.replace(policy, task="other"),
        dataclasses.replace(policy, layers=Layers((5, 12, 16, 2)), genotype=np.zeros(1)),
        "policy",
    )
    assert all(policy != other for other in different)
    assert len({policy, point.policy(1), *different}) == 7


def test_a_policy_cannot_be_changed(point):
    policy = point.policy(1)
    with pytest.raises(ValueError, match="read-only"):
        policy.genotype[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.cell = 2
    own = dataclasses.replace(point, genotype=point.genotype.copy())
    policy, before = own.policy(1), own.policy(1)(OBSERVATION)
    own.genotype[1] = 0
    np.testing.assert_array_equal(policy(OBSERVATION), before)


def test_a_pickled_policy_is_the_same(point):
    for policy in (point.policy(1), point.policy_for([1, 1]), point.actor([1, 1])):
        content = pickle.dumps(policy)
        assert len(content) < policy.genotype.nbytes + 2000  # the policy, not the repertoire
        again = pickle.loads(content)
        assert again == policy
        np.testing.assert_array_equal(again(OBSERVATION), policy(OBSERVATION))


def test_policies_act_in_spawned_processes(point):
    policies = [point.policy(1), point.actor([1, 1])]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        actions = pool.starmap(_act, [(policy, OBSERVATION) for policy in policies])
    for policy, action in zip(policies, actions, strict=True):
        np.testing.assert_array_equal(action, policy(OBSERVATION))


def _act(policy: dcrl.Policy, observation: list[float]) -> np.ndarray:
    return policy(observation)


def test_acting_needs_neither_jax_nor_mujoco(point, tmp_path):
    (tmp_path / "policy").write_bytes(pickle.dumps(point.policy(1)))
    code = (
        "import pickle, sys; policy = pickle.load(open('policy', 'rb')); policy([0] * 5); repr(policy);"
        "print([name for name in ('jax', 'mujoco', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.strip() == "[]"
