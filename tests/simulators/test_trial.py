"""Faults of a task that a rollout meets: refused in a sentence, or an invalid evaluation, never a wrong result."""

from __future__ import annotations

import dataclasses

import gymnasium
import mujoco
import numpy as np
import pytest

import dcrl
from dcrl.tasks.locomotion import torso_position
from dcrl.tasks.point import point_omni
from dcrl.types import Physics

ZERO = np.zeros((2, 17_538), np.float32)


def changed(**parts):
    return dataclasses.replace(point_omni, **parts)


def late_nan(physics: Physics):
    return np.where(physics.remaining[..., None] < 0.5, np.nan, torso_position(physics))


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (
            changed(step_descriptor=lambda p: p.qpos[..., :1]),
            r"step_descriptor must return shape \(2, 2\) .* got \(2, 1\)",
        ),
        (changed(observe=lambda p: p.qpos[..., :1]), r"observe must return shape \(2, 5\) .* got \(2, 1\)"),
        (changed(reward=lambda b, u, a: 1.0), r"reward must return shape \(2,\) .* got \(\)"),
        (changed(observe=lambda p: p.qpso), "observe raises AttributeError: the physics state has qpos"),
        (changed(robot=lambda: mujoco.MjSpec.from_string("<mujoco><foo/></mujoco>")), "point_omni: MuJoCo cannot read"),
        (changed(robot=lambda: None), "robot must return a mujoco.MjSpec, got a NoneType"),
        (changed(reads=("nothing",)), "point_omni reads what MjData does not have: nothing"),
    ],
)
def test_a_task_that_does_not_fit_is_refused(task, sentence):
    with pytest.raises(ValueError, match=sentence):
        dcrl.rollout(task, ZERO)


def test_a_descriptor_that_is_no_number_makes_the_evaluation_invalid():
    evaluation = dcrl.rollout(changed(step_descriptor=late_nan), ZERO)
    assert not evaluation.valid.any()
    assert np.isnan(evaluation.fitness).all()


def test_an_action_that_is_no_number_makes_the_evaluation_invalid():
    """Finite parameters so large that the network overflows; the reward does not look at the control."""
    task = changed(reward=lambda before, control, after: np.ones(len(after.qpos)))
    huge = np.random.default_rng(0).choice([-1e38, 1e38], ZERO.shape).astype(np.float32)
    mixed = np.stack([huge[0], ZERO[0]])
    evaluation = dcrl.rollout(task, mixed)
    assert evaluation.valid.tolist() == [False, True]
    assert evaluation.fitness[1] == 50


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((3, ZERO), {}, "a task is a name, a dcrl.Task or a dcrl.GymnasiumTask, got a int"),
        (("point_omni", ZERO), {"hidden": 128}, "hidden layers are a sequence of sizes"),
        (("point_omni", ZERO), {"hidden": (128.0, 128)}, "a network needs at least"),
        (("point_omni", ZERO), {"threads": 1.5}, "the number of threads must be at least 1, got 1.5"),
        (("point_omni", ZERO), {"threads": True}, "the number of threads must be at least 1, got True"),
        (("point_omni", ZERO + 1j), {}, "genotypes for point_omni must be real numbers"),
        (("point_omni", [["a"]]), {}, "genotypes for point_omni must be real numbers"),
    ],
)
def test_wrong_types_are_refused_in_a_sentence(arguments, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        dcrl.rollout(*arguments, **options)


@pytest.mark.parametrize("horizon", [0, 50.5, "50"])
def test_a_horizon_is_a_whole_number(horizon):
    with pytest.raises(ValueError, match="the horizon must be a whole number of steps"):
        changed(horizon=horizon)


def test_substeps_are_a_whole_number():
    with pytest.raises(ValueError, match=r"a whole number of substeps, got 0\.05 and 1\.5"):
        dcrl.Integration(timestep=0.05, substeps=1.5)


def test_an_ended_episode_wants_a_reset():
    environment = gymnasium.make("dcrl/PointOmni-v0").unwrapped
    action = np.zeros(2, np.float32)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(action)
    environment.reset(seed=2**40)  # any seed that Gymnasium allows
    with pytest.raises(ValueError, match="must be finite"):
        environment.step(np.array([np.nan, 0], np.float32))
    truncated = False
    while not truncated:
        *_, truncated, _ = environment.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(action)
