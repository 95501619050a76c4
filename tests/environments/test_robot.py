"""The tasks as Gymnasium environments: they pass Gymnasium's own check and equal rollouts bit for bit."""

import dataclasses
import os
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import dcrl
from dcrl.environments.registration import ENVIRONMENTS
from dcrl.environments.robot import RobotEnvironment
from dcrl.networks.policies import act_each, policy_layers
from dcrl.rendering import camera
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni
from support.faulty_tasks import mountain_car

UNBOUNDED = "A Box observation space (minimum|maximum) value is"  # physics has no bounds to declare


def check(environment, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{UNBOUNDED}", UserWarning)
        check_env(environment.unwrapped, **options)


@pytest.mark.parametrize(("identifier", "name"), [(identifier, name) for identifier, (name, _) in ENVIRONMENTS.items()])
def test_gymnasium_accepts_every_environment(identifier, name):
    environment = gymnasium.make(identifier)
    check(environment, skip_render_check=True)
    task = registry.get(name)
    assert environment.observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (task.observation_size,), np.float32)
    assert environment.action_space == gymnasium.spaces.Box(-1, 1, (task.action_size,), np.float32)
    assert environment.spec.max_episode_steps == task.horizon


def test_gymnasium_accepts_its_rendering():
    check(gymnasium.make("dcrl/PointOmni-v0"))


@pytest.mark.parametrize("name", ["point_omni", "hopper_uni", "ant_uni", "humanoid_omni"])
def test_an_episode_equals_its_rollout(name):
    task = registry.get(name)
    layers = policy_layers(task.observation_size, task.action_size)
    genotypes = np.random.default_rng(0).normal(0, 0.2, (3, layers.parameters)).astype(np.float32)
    transitions = dcrl.rollout(task, genotypes, seed=[7, 8, 9]).transitions
    environment = RobotEnvironment(name)
    for i, seed in enumerate((7, 8, 9)):
        observation, info = environment.reset(seed=seed)
        np.testing.assert_array_equal(info["step_descriptor"], transitions.state_descriptor[i, 0])
        for t in range(transitions.steps[i]):
            np.testing.assert_array_equal(observation, transitions.observation[i, t])
            action = act_each(layers.split(genotypes[i : i + 1]), observation[None])[0]
            observation, reward, terminated, truncated, info = environment.step(action)
            assert np.float32(reward) == transitions.reward[i, t]
            np.testing.assert_array_equal(info["step_descriptor"], transitions.state_descriptor[i, t + 1])
            assert (terminated or truncated) == (t + 1 == transitions.steps[i])
        np.testing.assert_array_equal(observation, transitions.observation[i, transitions.steps[i]])
        assert terminated == transitions.terminated[i]
        assert truncated == (transitions.steps[i] == task.horizon)


def test_unseeded_resets_follow_the_last_seed():
    environment = RobotEnvironment("point_omni")
    environment.reset(seed=3)
    first, second = environment.reset()[0], environment.reset()[0]
    assert (first != second).any()
    environment.reset(seed=3)
    np.testing.assert_array_equal(environment.reset()[0], first)


def test_a_diverged_simulation_ends_the_episode():
    diverging = dataclasses.replace(point_omni, reward=lambda before, control, after: np.full(len(control), np.nan))
    environment = RobotEnvironment(diverging)
    observation, _ = environment.reset(seed=0)
    after, reward, terminated, truncated, info = environment.step(np.zeros(2, np.float32))
    assert (reward, terminated, truncated, info["valid"]) == (0.0, False, True, False)
    np.testing.assert_array_equal(after, observation)
    assert environment.reset(seed=0)[1]["valid"]
    np.testing.assert_array_equal(environment.reset(seed=0)[0], observation)


def test_actions_outside_the_box_are_clipped():
    environment = RobotEnvironment("point_omni")
    outcomes = []
    for push in (1.0, 5.0):
        environment.reset(seed=0)
        outcomes.append(environment.step(np.array([push, -push], np.float32))[:2])
    np.testing.assert_array_equal(outcomes[0][0], outcomes[1][0])
    assert outcomes[0][1] == outcomes[1][1] == 0.5


def test_errors_name_the_cause():
    environment = RobotEnvironment("point_omni")
    environment.reset(seed=0)
    with pytest.raises(ValueError, match=r"has shape \(2,\), got \(3,\)"):
        environment.step(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="None or 'rgb_array', got 'ansi'"):
        RobotEnvironment("point_omni", render_mode="ansi")
    with pytest.raises(ValueError, match="is already a Gymnasium environment"):
        RobotEnvironment(mountain_car())


@pytest.mark.skipif(not camera.available(), reason="needs OpenGL")
def test_rendering_shows_the_robot():
    environment = gymnasium.make("dcrl/PointOmni-v0", render_mode="rgb_array", width=64, height=48)
    environment.reset(seed=0)
    picture = environment.render()
    environment.close()
    assert picture.shape == (48, 64, 3)
    assert picture.dtype == np.uint8
    red = picture[..., 0] > 2.0 * picture[..., 1]
    assert red[22:26, 30:34].all()  # the red point, which the camera follows
    assert not red[:8].any()


def test_without_opengl_it_passes_and_says_why_it_cannot_render():
    program = (
        "import gymnasium, dcrl\n"
        "from gymnasium.utils.env_checker import check_env\n"
        "environment = gymnasium.make('dcrl/PointOmni-v0')\n"
        "check_env(environment.unwrapped)\n"
        "print(environment.metadata['render_modes'])\n"
        "try: gymnasium.make('dcrl/PointOmni-v0', render_mode='rgb_array')\n"
        "except RuntimeError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MUJOCO_GL": "disable"},
    )
    modes, message = done.stdout.splitlines()
    assert modes == "[]"
    assert "cannot render: set the environment variable MUJOCO_GL" in message
