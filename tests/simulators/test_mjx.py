"""The `mjx` simulator against `mujoco`: the same model, the same task functions, float32 instead of float64."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from mujoco import mjx

from dcrl.simulators.mjx import MjxSimulator
from dcrl.tasks import ant, registry
from dcrl.tasks.point import point_omni

CHEAP = ("point_omni",)  # the others compile for up to minutes on a CPU
TASKS = [pytest.param(name, marks=() if name in CHEAP else pytest.mark.slow) for name in registry.BUILT_IN]
SHARED = 5  # steps for which two precisions must agree; after that contacts multiply rounding errors
# MJX turns the friction pyramid of a steep capsule another way than C, and an ant stands on four of them: its first
# step is in the air and agrees, and then its episodes agree on average.
ANTS = ("ant_omni", "anttrap_omni", "ant_uni")


@pytest.fixture(params=TASKS)
def both(request, episodes):
    """A task, and the same 64 episodes of it in C and in JAX."""
    task, in_c = episodes("mujoco", request.param)
    return task, in_c, episodes("mjx", request.param)[1]


def relative(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.abs(found - expected) / (1 + np.abs(expected))


def test_episodes_start_from_the_same_observation(both):
    _, in_c, in_jax = both
    assert relative(in_jax.transitions.observation[:, 0], in_c.transitions.observation[:, 0]).max() < 5e-6  # float32
    np.testing.assert_array_equal(
        in_jax.transitions.state_descriptor[:, 0] > 0.5, in_c.transitions.state_descriptor[:, 0] > 0.5
    )


def test_the_first_steps_agree(both):
    """Nine in ten episodes to 1e-3 of an observation, half of them to 1e-4."""
    task, in_c, in_jax = both
    shared = 1 if task.name in ANTS else SHARED
    alive = (in_c.steps >= shared) & (in_jax.steps >= shared)
    assert alive.sum() >= 32
    rows = slice(0, shared + 1)
    apart = relative(in_jax.transitions.observation[alive, rows], in_c.transitions.observation[alive, rows])
    worst = apart.max(axis=(1, 2))
    assert np.quantile(worst, 0.9) < 1e-3
    assert np.median(worst) < 1e-4


def test_rewards_of_the_first_steps_agree(both):
    task, in_c, in_jax = both
    shared = 1 if task.name in ANTS else SHARED
    alive = (in_c.steps >= shared) & (in_jax.steps >= shared)
    apart = relative(in_jax.transitions.reward[alive, :shared], in_c.transitions.reward[alive, :shared])
    assert np.quantile(apart.max(axis=1), 0.9) < 1e-3


def test_the_same_feet_touch_the_floor_or_the_same_place_is_reached(both):
    task, in_c, in_jax = both
    if not task.name.endswith("_uni"):
        apart = np.median(np.abs(in_jax.descriptor - in_c.descriptor))
        assert apart < (0.15 if task.name in ANTS else 0.01)  # m
        return
    times = np.arange(task.horizon + 1)
    alive = times <= np.minimum(np.minimum(in_c.steps, in_jax.steps), 2 * SHARED)[:, None]
    contacts = in_c.transitions.state_descriptor[alive]
    assert (in_jax.transitions.state_descriptor[alive] == contacts).mean() > (0.85 if task.name in ANTS else 0.99)
    assert 0.02 < contacts.mean() < 0.98  # there was something to agree about


def test_outcomes_agree_on_average(both):
    """The mean difference of 64 policies is within four of its standard errors (or 1e-4 of the spread)."""
    _, in_c, in_jax = both
    assert in_jax.valid.all()
    for quantity in ("fitness", "descriptor", "steps"):
        expected = np.asarray(getattr(in_c, quantity), np.float64)
        apart = getattr(in_jax, quantity) - expected
        error = apart.std(axis=0) / len(expected) ** 0.5
        assert (np.abs(apart.mean(axis=0)) <= 4 * error + 1e-4 * expected.std(axis=0) + 1e-6).all(), quantity


def test_most_episodes_end_alike(both):
    task, in_c, in_jax = both
    assert (in_jax.steps == in_c.steps).mean() >= (0.5 if task.name in ANTS else 0.9)
    same = in_jax.steps == in_c.steps
    np.testing.assert_array_equal(in_jax.transitions.terminated[same], in_c.transitions.terminated[same])


@pytest.mark.slow
def test_with_a_round_friction_cone_an_ants_contacts_agree_too():
    """Single steps from states along an episode: the friction pyramid is all that parts the two."""
    spec = ant.robot()
    spec.option.timestep, spec.option.integrator = 0.005, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model = spec.compile()
    in_jax, template = mjx.put_model(model), mjx.make_data(model)

    @jax.jit
    def velocity(qpos, qvel, ctrl, warmstart):
        data = template.replace(qpos=qpos, qvel=qvel, ctrl=ctrl, qacc_warmstart=warmstart)
        return mjx.step(in_jax, data).qvel

    data, random, touched = mujoco.MjData(model), np.random.default_rng(0), 0
    for _ in range(120):
        data.ctrl[:] = random.uniform(-0.3, 0.3, model.nu)
        before = [jnp.asarray(part, jnp.float32) for part in (data.qpos, data.qvel, data.ctrl, data.qacc_warmstart)]
        mujoco.mj_step(model, data)
        touched += data.ncon > 0
        np.testing.assert_allclose(velocity(*before), data.qvel, atol=2e-3)
    assert touched > 20


# -- on the point, which compiles fast -------------------------------------------------------------


@pytest.fixture(scope="module")
def point():
    """A point of which every start with a positive x diverges at once."""

    def start(key, qpos0, qvel0):
        qpos, qvel = point_omni.start(key, qpos0, qvel0)
        return qpos, jnp.where(qpos[0] > 0, jnp.inf, qvel)

    task = dataclasses.replace(point_omni, horizon=10, start=start)
    with MjxSimulator(task) as simulator:
        yield task, simulator


@pytest.mark.slow
def test_divergence_and_bad_policies_stay_with_themselves(point, policies):
    task, simulator = point
    genotypes, starts, layers = policies(task, 12)
    genotypes[3] = np.nan
    played = simulator.play(genotypes, starts, layers, record=True)
    x = np.asarray(jax.vmap(lambda key: point_omni.start(key, jnp.zeros(2), jnp.zeros(2))[0][0])(starts))
    expected = (x <= 0) & (np.arange(12) != 3)
    assert 2 <= expected.sum() <= 9
    np.testing.assert_array_equal(played.valid, expected)
    np.testing.assert_array_equal(np.isnan(played.fitness), ~expected)
    np.testing.assert_array_equal(np.isnan(played.descriptor).all(axis=1), ~expected)
    np.testing.assert_array_equal(played.transitions.simulated.any(axis=1), expected)
    assert played.steps[3] == 0
    assert (played.steps[expected] == 10).all()
    assert not played.transitions.terminated.any()


@pytest.mark.slow
def test_a_batch_may_be_split_and_need_not_be_recorded(point, policies, outcome):
    task, simulator = point
    genotypes, starts, layers = policies(task, 12)
    whole = simulator.play(genotypes, starts, layers, record=True)
    part = simulator.play(genotypes[7:], starts[7:], layers, record=False)
    assert part.transitions is None
    np.testing.assert_allclose(part.fitness, whole.fitness[7:], rtol=1e-6)
    np.testing.assert_allclose(part.descriptor, whole.descriptor[7:], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(part.steps, whole.steps[7:])
