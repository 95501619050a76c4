"""The `mujoco` simulator: the same bytes however the work is shared, no step for the dead, divergence contained."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import dcrl.simulators.mujoco as module
from dcrl import keys
from dcrl.simulators.mujoco import MujocoSimulator
from dcrl.simulators.stability import is_stable
from dcrl.tasks import registry
from dcrl.types import Evaluation, Physics

# Horizons that let robots fall at different times, and that take a second or two.
HORIZONS = {"ant_omni": 60, "walker2d_uni": 200, "halfcheetah_uni": 40, "humanoid_uni": 50, "point_omni": 50}
COUNT = 24


def short(name: str, **changes: object) -> object:
    return dataclasses.replace(registry.BUILT_IN[name], horizon=HORIZONS[name], **changes)


@pytest.fixture(scope="module", params=HORIZONS)
def reference(request, policies):
    """A task, policies for it, and what they come to in one batch on one thread."""
    task = short(request.param)
    batch = policies(task, COUNT)
    with MujocoSimulator(task, threads=1) as simulator:
        yield task, batch, simulator, simulator.play(*batch, record=True)


def test_two_threads_give_the_same_bytes_as_one(reference, outcome):
    task, batch, simulator, expected = reference
    with MujocoSimulator(task, threads=2) as two:
        for _ in range(2):  # the second time on used simulations
            assert outcome(two.play(*batch, record=True)) == outcome(expected)
        assert outcome(simulator.play(*batch, record=True)) == outcome(expected)


def test_many_threads_share_a_workers_batch(reference, outcome, monkeypatch):
    task, batch, _, expected = reference
    monkeypatch.setattr(module, "MAX_WORKERS", 1)
    with MujocoSimulator(task, threads=3) as three:
        assert three.workers == 1
        assert outcome(three.play(*batch, record=True)) == outcome(expected)


def test_any_split_of_a_batch_gives_the_same_bytes(reference, outcome):
    _, (genotypes, starts, layers), simulator, expected = reference
    random = np.random.default_rng(7)
    for _ in range(3):
        order = random.permutation(COUNT)
        cuts = np.sort(random.choice(np.arange(2, COUNT), size=3, replace=False))
        for rows in (*np.split(order[1:], cuts - 1), order[:1]):  # with a batch of one among them
            part = simulator.play(genotypes[rows], starts[rows], layers, record=True)
            assert outcome(part) == outcome(expected, rows)


@pytest.mark.parametrize("slots", [1, 7])
def test_refilled_slots_give_the_same_bytes(reference, outcome, monkeypatch, slots):
    task, batch, _, expected = reference
    monkeypatch.setattr(module, "SLOTS_PER_THREAD", slots)
    with MujocoSimulator(task, threads=2) as few:
        assert outcome(few.play(*batch, record=True)) == outcome(expected)


def test_other_starts_give_other_outcomes(reference, outcome):
    _, (genotypes, _, layers), simulator, expected = reference
    other = simulator.play(genotypes, keys.each(keys.root(99), COUNT), layers, record=True)
    assert not set(outcome(other)) & set(outcome(expected))


def test_the_record_changes_nothing(reference):
    _, batch, simulator, expected = reference
    unrecorded = simulator.play(*batch, record=False)
    assert unrecorded.transitions is None
    np.testing.assert_array_equal(unrecorded.fitness, expected.fitness)
    np.testing.assert_array_equal(unrecorded.descriptor, expected.descriptor)
    np.testing.assert_array_equal(unrecorded.steps, expected.steps)


def test_physics_is_stepped_for_the_living_alone(reference, monkeypatch):
    task, batch, _, expected = reference
    stepped = []

    class Counted(module.Batch):
        def step(self, ids, nstep, stage):
            stepped.append(len(ids) * nstep)
            super().step(ids, nstep, stage)

    monkeypatch.setattr(module, "Batch", Counted)
    monkeypatch.setattr(module, "SLOTS_PER_THREAD", 8)
    with MujocoSimulator(task, threads=2) as simulator:
        simulator.play(*batch, record=False)
    assert sum(stepped) == expected.steps.sum() * task.integration.substeps
    if task.name in ("walker2d_uni", "humanoid_uni"):
        assert expected.steps.sum() < 0.8 * COUNT * task.horizon


def test_a_start_orientation_is_a_rotation(policies):
    for name in ("ant_omni", "humanoid_uni"):
        task = short(name)
        with MujocoSimulator(task, threads=1) as simulator:
            genotypes, starts, layers = policies(task, 8)
            played = simulator.play(genotypes, starts, layers, record=True)
        at = task.observations.index("torso quaternion w")
        lengths = np.linalg.norm(played.transitions.observation[:, 0, at : at + 4], axis=1)
        np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_the_control_spans_the_actuators_range(policies):
    task = short("humanoid_uni")
    centre, half = task.control_range
    np.testing.assert_allclose(half, 0.4)
    np.testing.assert_array_equal(centre, 0)
    with MujocoSimulator(task, threads=1) as simulator:
        genotypes, starts, layers = policies(task, 1)
        genotypes[:] = 0
        layers.split(genotypes)[-1][1][:] = 20.0  # every action 1
        played = simulator.play(genotypes, starts, layers, record=True)
    np.testing.assert_array_equal(played.transitions.action[0, 0], 1)
    force = played.transitions.observation[0, 1, 221 + 6 : 244]  # of the joints, in joint order
    gear = {task.actions[i]: task.model.actuator_gear[i, 0] for i in range(17)}
    expected = [0.4 * gear[task.model.joint(joint).name] for joint in range(1, 18)]
    np.testing.assert_allclose(force, expected, rtol=1e-6)


# -- divergence ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e11, -1e11])
def test_a_state_that_mujoco_calls_unstable_is_not_sound(value):
    qpos, qvel, observation, reward = np.zeros((5, 3)), np.zeros((5, 2)), np.zeros((5, 4)), np.zeros(5)
    qpos[1, 2], qvel[2, 0] = value, value
    observation[3, 1], reward[4] = (value, value) if not np.isfinite(value) else (np.nan, np.inf)
    physics = Physics(np, 0.1, np.ones(5), {"qpos": qpos, "qvel": qvel})
    np.testing.assert_array_equal(is_stable(physics, reward, observation), [True, False, False, False, False])


def is_bad(key: jax.Array) -> jax.Array:
    return jax.random.bernoulli(jax.random.fold_in(key, 7), 0.3)


def played_with_bad_starts(name: str, velocity: float, policies) -> tuple[np.ndarray, Evaluation, Evaluation]:
    """Which starts are bad; the evaluation without them; the evaluation with them."""
    good = short(name)

    def start(key, qpos0, qvel0):
        qpos, qvel = good.start(key, qpos0, qvel0)
        return qpos, jnp.where(is_bad(key), velocity, qvel)

    batch = policies(good, COUNT)
    evaluations = []
    for task in (good, dataclasses.replace(good, start=start)):
        with MujocoSimulator(task, threads=2) as simulator:
            evaluations.append(simulator.play(*batch, record=True))
    return np.asarray(jax.vmap(is_bad)(batch[1])), *evaluations


@pytest.mark.parametrize(
    ("name", "velocity"),
    [
        ("ant_omni", np.nan),
        ("ant_omni", 1e9),
        ("walker2d_uni", np.inf),
        ("halfcheetah_uni", 1e9),
        ("humanoid_uni", 1e30),
    ],
)
def test_diverged_episodes_are_invalid_and_their_neighbours_unharmed(
    name, velocity, policies, outcome, monkeypatch, tmp_path, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "SLOTS_PER_THREAD", 4)  # a slot that held a diverged simulation is used again
    bad, calm, mixed = played_with_bad_starts(name, velocity, policies)
    assert 5 < bad.sum() < COUNT - 5
    np.testing.assert_array_equal(mixed.valid, ~bad)
    assert outcome(mixed, np.flatnonzero(~bad)) == outcome(calm, np.flatnonzero(~bad))
    assert np.isnan(mixed.fitness[bad]).all()
    assert np.isnan(mixed.descriptor[bad]).all()
    assert not mixed.transitions.simulated[bad].any()  # nothing to learn from
    assert not mixed.transitions.terminated[bad].any()
    assert (mixed.steps[bad] >= 1).all()  # but simulated, and counted as such
    assert list(tmp_path.iterdir()) == []  # no MUJOCO_LOG.TXT
    assert capfd.readouterr() == ("", "")


def test_a_policy_that_is_no_number_is_invalid_and_never_simulated(policies, outcome):
    task = short("walker2d_uni")
    genotypes, starts, layers = policies(task, 6)
    with MujocoSimulator(task, threads=1) as simulator:
        expected = simulator.play(genotypes, starts, layers, record=True)
        genotypes[2, 17], genotypes[4, -1] = np.nan, np.inf
        played = simulator.play(genotypes, starts, layers, record=True)
    np.testing.assert_array_equal(played.valid, [True, True, False, True, False, True])
    np.testing.assert_array_equal(played.steps[[2, 4]], 0)
    assert np.isnan(played.fitness[[2, 4]]).all()
    assert not played.transitions.simulated[[2, 4]].any()
    assert outcome(played, [0, 1, 3, 5]) == outcome(expected, [0, 1, 3, 5])


@pytest.mark.parametrize("memory", [2_000, 10_000])  # bytes: too few at the start, too few once feet touch the floor
def test_an_error_in_the_engine_is_an_invalid_evaluation(memory, policies):
    def cramped() -> mujoco.MjSpec:
        spec = registry.BUILT_IN["ant_omni"].robot()
        spec.memory = memory
        return spec

    task = short("ant_omni", robot=cramped)
    with MujocoSimulator(task, threads=2) as simulator:
        played = simulator.play(*policies(task, 8), record=True)
    assert not played.valid.any()
    assert np.isnan(played.fitness).all()
    assert not played.transitions.simulated.any()
    assert (played.steps.max() == 1) == (memory == 2_000)


@pytest.mark.parametrize("threads", [0, -1])
def test_a_simulator_needs_a_thread(threads):
    with pytest.raises(ValueError, match="threads must be at least 1"):
        MujocoSimulator(registry.BUILT_IN["point_omni"], threads)
