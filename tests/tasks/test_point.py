"""The point: every answer known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.networks.policies import Layers, act_each, policy_layers
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.point import NOISE, point_omni

STEP = 0.05  # s


def recursion(genotype: np.ndarray, start: np.ndarray, layers: Layers, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (T + 1, 2) and rewards (T,) of v <- (v + h u) / (1 + h), x <- x + h v, twice a control step."""
    x, v = start.astype(np.float64), np.zeros(2)
    positions, rewards = [x], []
    for time in range(horizon):
        seen = np.concatenate([x / 3, v, [(horizon - time) / horizon]]).astype(np.float32)
        u = act_each(layers.split(genotype[None]), seen[None])[0].astype(np.float64)
        for _ in range(2):
            v = (v + STEP * u) / (1 + STEP)
            x = x + STEP * v
        positions.append(x)
        rewards.append(1 - 0.25 * u @ u)
    return np.array(positions), np.array(rewards)


@pytest.mark.parametrize(("simulator", "tolerance"), [("mujoco", 1e-6), ("mjx", 1e-5)])  # MJX computes in float32
def test_the_point_follows_its_closed_form(simulator, tolerance, episodes, policies):
    task, played = episodes(simulator, "point_omni")
    genotypes, _, layers = policies(task, len(played.fitness))
    for i, genotype in enumerate(genotypes):
        start = 3 * played.transitions.observation[i, 0, :2]
        positions, rewards = recursion(genotype, start, layers, task.horizon)
        np.testing.assert_allclose(played.transitions.state_descriptor[i], positions, atol=tolerance)
        np.testing.assert_allclose(played.transitions.reward[i], rewards, atol=tolerance)
        np.testing.assert_allclose(played.descriptor[i], np.clip(positions[-1], -3, 3), atol=tolerance)
        np.testing.assert_allclose(played.fitness[i], rewards.sum(), atol=task.horizon * tolerance)
    assert np.ptp(played.descriptor, axis=0).min() > 2  # they went to different places


def test_without_a_push_it_ends_where_it_starts_with_the_best_score():
    evaluation = dcrl.rollout(point_omni, np.zeros((8, 17_538), np.float32), seed=range(8))
    np.testing.assert_array_equal(evaluation.descriptor, evaluation.transitions.state_descriptor[:, 0])
    np.testing.assert_array_equal(evaluation.fitness, 50)
    assert (np.abs(evaluation.descriptor) <= NOISE).all()
    assert len(np.unique(evaluation.descriptor)) == 16


def test_a_constant_push_ends_four_metres_away_and_is_clipped_to_three():
    layers = policy_layers(5, 2)
    genotype = np.zeros((1, layers.parameters), np.float32)
    layers.split(genotype)[-1][1][0] = 20.0, -20.0  # the last bias; tanh of it is 1 in float32
    with simulators.make(point_omni) as simulator:
        (raw,) = simulator.play(genotype, start_keys(0, 1), layers, record=False).descriptor
    # from rest, v_n = 1 - (1 + h)^-n; its sum over 100 substeps is the way
    expected = STEP * (100 - sum((1 + STEP) ** -n for n in range(1, 101)))
    np.testing.assert_allclose(raw, [expected, -expected], atol=NOISE)
    np.testing.assert_array_equal(dcrl.rollout(point_omni, genotype).descriptor, [[3.0, -3.0]])
