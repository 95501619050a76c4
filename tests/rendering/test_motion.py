"""A recorded motion is the rollout of its policy, and its poses are where MuJoCo puts the robot."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import policy_layers
from dcrl.rendering.motion import record, shapes
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni
from dcrl.tasks.task import Task
from support.faulty_tasks import mountain_car


def genotype(task: Task, scale: float = 0.2) -> np.ndarray:
    size = policy_layers(task.observation_size, task.action_size).parameters
    return np.random.default_rng(3).normal(0, scale, size).astype(np.float32)


@pytest.mark.parametrize("name", ["point_omni", "walker2d_uni", "ant_omni", "ant_uni"])
def test_a_motion_equals_the_rollout(name: str) -> None:
    task = dataclasses.replace(registry.BUILT_IN[name], horizon=60)
    policy = genotype(task)
    for seed in (0, 5):
        motion, played = record(task, policy, seed), dcrl.rollout(task, policy[None], seed)
        transitions = played.transitions
        assert transitions is not None
        assert (motion.fitness, motion.steps) == (float(played.fitness[0]), played.steps[0])
        assert (motion.valid, motion.terminated) == (played.valid[0], transitions.terminated[0])
        assert motion.descriptor.tobytes() == played.descriptor[0].tobytes()
        assert motion.reward.astype(np.float32).tobytes() == transitions.reward[0, : motion.steps].tobytes()
        assert motion.action.tobytes() == transitions.action[0, : motion.steps].tobytes()
        assert motion.step_descriptor.tobytes() == transitions.state_descriptor[0, : motion.steps + 1].tobytes()


def test_the_mean_of_uneven_steps_is_summed_as_the_simulator_does() -> None:
    """A descriptor whose steps are no whole numbers, so that the order of summation shows."""
    space = dataclasses.replace(point_omni.descriptor, over="mean", clip=True)
    task = dataclasses.replace(point_omni, descriptor=space, descriptor_from_observation=None)
    policy = genotype(task)
    motion = record(task, policy, 1)
    assert motion.descriptor.tobytes() == dcrl.rollout(task, policy[None], 1).descriptor[0].tobytes()
    by_hand = [motion.step_descriptor[1 : t + 1].mean(axis=0) for t in range(1, motion.steps + 1)]
    np.testing.assert_allclose(motion.descriptor_so_far[1:], by_hand, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(motion.descriptor_so_far[0], motion.step_descriptor[0])


@pytest.mark.parametrize("name", ["humanoid_uni", "anttrap_omni"])
def test_poses_are_where_mujoco_puts_them(name: str) -> None:
    task = dataclasses.replace(registry.BUILT_IN[name], horizon=12)
    motion = record(task, genotype(task))
    model = task.model
    data = mujoco.MjData(model)
    made = np.zeros(9)
    for i in (0, 5, motion.steps):
        data.qpos[:] = motion.qpos[i]
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(motion.position[i], data.geom_xpos, atol=1e-6)
        np.testing.assert_array_equal(motion.path[i], data.body("torso").xpos)
        for geom in range(model.ngeom):
            mujoco.mju_quat2Mat(made, motion.rotation[i, geom].astype(np.float64))
            np.testing.assert_allclose(made, data.geom_xmat[geom], atol=1e-5)


def test_contacts_are_those_the_feet_feel() -> None:
    task = dataclasses.replace(registry.BUILT_IN["ant_uni"], horizon=40)
    motion = record(task, genotype(task))
    assert motion.contact_names[0] == "left_ankle_geom on floor"
    np.testing.assert_array_equal(motion.contact, motion.step_descriptor > 0)
    assert 0 < motion.contact.mean() < 1
    assert record(point_omni, genotype(point_omni)).contact.shape == (51, 0)


def test_shapes_are_the_models_geoms() -> None:
    found = {shape.name: shape for shape in shapes("anttrap_omni")}
    assert len(shapes("anttrap_omni")) == registry.BUILT_IN["anttrap_omni"].model.ngeom
    assert (found["floor"].kind, found["floor"].static) == ("plane", True)
    back = found["trap back"]
    assert (back.kind, back.static, back.size[:2]) == ("capsule", True, (0.5, 2.0))
    assert back.rgba == pytest.approx((0.55, 0.55, 0.6, 1))
    assert (found["torso_geom"].kind, found["torso_geom"].static, found["torso_geom"].body) == (
        "sphere",
        False,
        "torso",
    )


def test_a_mesh_comes_with_its_triangles() -> None:
    def robot() -> mujoco.MjSpec:
        spec = point_omni.robot()
        corners = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
        spec.add_mesh(name="corner", uservert=corners)
        spec.worldbody.add_geom(name="wedge", type=mujoco.mjtGeom.mjGEOM_MESH, meshname="corner")
        return spec

    wedge = next(s for s in shapes(dataclasses.replace(point_omni, robot=robot)) if s.name == "wedge")
    assert wedge.kind == "mesh"
    assert wedge.vertices is not None
    assert wedge.faces is not None
    assert (wedge.vertices.shape, wedge.faces.shape) == ((4, 3), (4, 3))
    corners = wedge.vertices[wedge.faces]
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(1 / 6, rel=1e-5)


def test_a_simulation_that_diverges_is_an_invalid_motion() -> None:
    def start(key: jax.Array, qpos: jax.Array, qvel: jax.Array) -> tuple[jax.Array, jax.Array]:
        return qpos, jnp.full_like(qvel, jnp.inf)

    def later(before: dcrl.Physics, control: np.ndarray, after: dcrl.Physics) -> np.ndarray:
        return np.where(after.remaining < 0.9, np.nan, 1.0)

    for task, steps in (
        (dataclasses.replace(point_omni, start=start), 0),
        (dataclasses.replace(point_omni, reward=later), 5),
    ):
        motion = record(task, genotype(task))
        assert not dcrl.rollout(task, genotype(task)[None]).valid[0]
        assert (motion.valid, motion.terminated, motion.steps) == (False, False, steps)
        assert np.isnan(motion.fitness)
        assert np.isnan(motion.descriptor).all()
        assert np.isfinite(motion.position).all()


def test_what_cannot_be_recorded_is_refused_with_a_sentence() -> None:
    task = mountain_car()
    for call in (lambda: record(task, [0.0]), lambda: shapes(task)):
        with pytest.raises(ValueError, match="task car is a Gymnasium environment, which has no poses to record"):
            call()
    with pytest.raises(ValueError, match="genotypes for point_omni must be"):
        record("point_omni", np.zeros(3))
