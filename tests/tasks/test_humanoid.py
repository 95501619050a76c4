"""The humanoid: its 245 observations, and the velocity it is paid for."""

from __future__ import annotations

import gymnasium
import mujoco
import numpy as np
import pytest

import dcrl
from dcrl.tasks.humanoid import LINKS, humanoid_omni, humanoid_uni

INERTIA = slice(45, 155)  # 11 links x 10
SPIN, VELOCITY = slice(155, 188), slice(188, 221)  # 11 links x 3 each
FORCE = slice(221, 244)


@pytest.fixture(scope="module")
def moving() -> mujoco.MjData:
    """A humanoid in the middle of a fall."""
    data = mujoco.MjData(humanoid_uni.model)
    random = np.random.default_rng(0)
    data.qpos[2] = 1.4
    for _ in range(150):
        data.ctrl[:] = random.uniform(-0.4, 0.4, 17)
        mujoco.mj_step(humanoid_uni.model, data)
    mujoco.mj_forward(humanoid_uni.model, data)
    return data


def physics(data: mujoco.MjData, remaining: float = 1.0) -> dcrl.Physics:
    fields = {field: getattr(data, field).copy() for field in humanoid_uni.fields}
    return dcrl.Physics(np, 0.015, np.asarray(remaining), fields)


def test_the_links_are_the_bodies_that_own_joints_and_feet_belong_to_shins():
    model = humanoid_uni.model
    assert sorted(body for bodies in LINKS.values() for body in bodies) == list(range(1, model.nbody))
    for link, bodies in LINKS.items():
        assert model.body(bodies[0]).name == link
        assert model.body(bodies[0]).jntnum[0] > 0
        for jointless in bodies[1:]:
            assert model.body(jointless).jntnum[0] == 0
            assert model.body(jointless).parentid[0] == bodies[0]
            assert model.body(jointless).name == link.replace("shin", "foot")


def test_the_masses_observed_are_those_of_the_whole_robot(moving):
    masses = humanoid_uni.observe(physics(moving))[INERTIA].reshape(11, 10)[:, 9]
    assert masses.sum() == pytest.approx(humanoid_uni.model.body_mass.sum(), rel=1e-12)
    shin, foot = (humanoid_uni.model.body(f"right_{part}").mass[0] for part in ("shin", "foot"))
    assert masses[list(LINKS).index("right_shin")] == pytest.approx(shin + foot)
    labels = np.array(humanoid_uni.observations[INERTIA]).reshape(11, 10)
    assert all("mass about" in label for label in labels[:, 9])


def test_the_first_moments_about_the_centre_of_mass_cancel(moving):
    inertia = humanoid_uni.observe(physics(moving))[INERTIA].reshape(11, 10)
    np.testing.assert_allclose(inertia[:, 6:9].sum(axis=0), 0, atol=1e-9)


def test_inertias_are_about_the_centre_of_mass_of_the_robot(moving):
    """Recomputed from each body's own inertia by the parallel-axis theorem."""
    model = humanoid_uni.model
    centre = moving.subtree_com[1]
    inertia = humanoid_uni.observe(physics(moving))[INERTIA].reshape(11, 10)
    for row, bodies in zip(inertia, LINKS.values(), strict=True):
        expected = np.zeros((3, 3))
        for body in bodies:
            rotation, d = moving.ximat[body].reshape(3, 3), moving.xipos[body] - centre
            expected += rotation @ np.diag(model.body_inertia[body]) @ rotation.T
            expected += model.body_mass[body] * (d @ d * np.eye(3) - np.outer(d, d))
        found = np.array([[row[0], row[3], row[4]], [row[3], row[1], row[5]], [row[4], row[5], row[2]]])
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_velocities_carry_the_momentum_of_the_robot(moving):
    """The m v of the links, taken at the common centre, sum to the momentum of the centre of mass."""
    seen = humanoid_uni.observe(physics(moving))
    inertia, spin, velocity = seen[INERTIA].reshape(11, 10), seen[SPIN].reshape(11, 3), seen[VELOCITY].reshape(11, 3)
    momentum = (inertia[:, 9:] * velocity + np.cross(spin, inertia[:, 6:9])).sum(axis=0)
    mujoco.mj_subtreeVel(humanoid_uni.model, moving)
    expected = humanoid_uni.model.body_mass.sum() * moving.subtree_linvel[1]
    assert np.linalg.norm(expected) > 1
    np.testing.assert_allclose(momentum, expected, atol=1e-9)


def test_actuator_forces_are_those_of_the_joints(moving):
    seen = humanoid_uni.observe(physics(moving, remaining=0.5))
    np.testing.assert_array_equal(seen[FORCE], moving.qfrc_actuator)
    np.testing.assert_array_equal(seen[FORCE][:6], 0)  # nothing pushes the torso from outside
    assert np.abs(seen[FORCE][6:]).max() > 1
    assert seen[-1] == 0.5


def test_the_omnidirectional_one_sees_its_position_in_tens_of_metres(moving):
    uni, omni = humanoid_uni.observe(physics(moving)), humanoid_omni.observe(physics(moving))
    np.testing.assert_array_equal(omni, [*moving.qpos[:2] / 10, *uni])


def test_the_reward_is_for_the_centre_of_mass_not_the_torso(moving):
    before, after = physics(moving), physics(moving)
    after.qpos[0] += 100.0
    still = humanoid_uni.reward(before, np.zeros(17), after)
    assert still == pytest.approx(5.0)
    after.subtree_com[1, 0] += 0.015  # 1 m/s
    assert humanoid_uni.reward(before, np.zeros(17), after) == pytest.approx(6.25)
    after.subtree_com[1, 0] -= 1.0
    assert humanoid_uni.reward(before, np.zeros(17), after) == 0.0
    assert humanoid_omni.reward(before, np.full(17, 0.4), after) == pytest.approx(5 - 0.1 * 17 * 0.16)


def test_at_the_start_gymnasium_observes_the_same_bodies():
    environment = gymnasium.make("Humanoid-v5").unwrapped
    theirs, _ = environment.reset(seed=0)
    inertia, velocity = theirs[45:175].reshape(13, 10), theirs[175:253].reshape(13, 6)
    seen = humanoid_uni.observe(physics(environment.data))
    environment.close()
    joints = [bodies[0] - 1 for bodies in LINKS.values()]
    np.testing.assert_array_equal(seen[SPIN].reshape(11, 3), velocity[joints, :3])
    np.testing.assert_array_equal(seen[VELOCITY].reshape(11, 3), velocity[joints, 3:])
    own = seen[INERTIA].reshape(11, 10)
    for row, bodies in zip(own, LINKS.values(), strict=True):
        np.testing.assert_allclose(row, inertia[[body - 1 for body in bodies]].sum(axis=0), atol=1e-12)


def test_a_jointless_foot_moves_with_its_shin(moving):
    """So one velocity stands for both: the same motion, seen from the common centre."""
    for bodies in LINKS.values():
        for body in bodies[1:]:
            np.testing.assert_allclose(moving.cvel[body], moving.cvel[bodies[0]], atol=1e-12)
