"""The point: every answer known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.networks import act_each, policy_layers
from dcrl.rollout import start_keys
from dcrl.tasks.point import NOISE, point_omni

SIMULATORS = ("mujoco", "mjx")
STEP = 0.05  # s


def recursion(genotype: np.ndarray, start: np.ndarray, layers: object) -> tuple[np.ndarray, np.ndarray]:
    """Positions (51, 2) and rewards (50,) of v <- (v + h u) / (1 + h), x <- x + h v, twice a control step."""
    x, v = start.astype(np.float64), np.zeros(2)
    positions, rewards = [x], []
    for time in range(50):
        seen = np.concatenate([x / 3, v, [(50 - time) / 50]]).astype(np.float32)
        u = act_each(layers.split(genotype[None]), seen[None])[0].astype(np.float64)
        for _ in range(2):
            v = (v + STEP * u) / (1 + STEP)
            x = x + STEP * v
        positions.append(x)
        rewards.append(1 - 0.25 * u @ u)
    return np.array(positions), np.array(rewards)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_point_follows_its_closed_form(simulator, policies):
    genotypes, _, layers = policies(point_omni, 8)
    played = dcrl.rollout(point_omni, genotypes, seed=range(8), simulator=simulator)
    tolerance = 1e-6 if simulator == "mujoco" else 1e-5  # MJX computes in float32
    for i in range(8):
        positions, rewards = recursion(genotypes[i], 3 * played.transitions.observation[i, 0, :2], layers)
        np.testing.assert_allclose(played.transitions.state_descriptor[i], positions, atol=tolerance)
        np.testing.assert_allclose(played.transitions.reward[i], rewards, atol=tolerance)
        np.testing.assert_allclose(played.descriptor[i], positions[-1], atol=tolerance)
        np.testing.assert_allclose(played.fitness[i], rewards.sum(), atol=50 * tolerance)
    assert np.ptp(played.descriptor, axis=0).min() > 0.5  # the eight went to different places


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_without_a_push_it_ends_where_it_starts_with_the_best_score(simulator):
    evaluation = dcrl.rollout(point_omni, np.zeros((8, 17_538), np.float32), seed=range(8), simulator=simulator)
    np.testing.assert_array_equal(evaluation.descriptor, evaluation.transitions.state_descriptor[:, 0])
    np.testing.assert_array_equal(evaluation.fitness, 50)
    assert (np.abs(evaluation.descriptor) <= NOISE).all()
    assert len(np.unique(evaluation.descriptor)) == 16


def test_a_constant_push_ends_four_metres_away_and_is_clipped_to_three():
    layers = policy_layers(5, 2)
    genotype = np.zeros((1, layers.parameters), np.float32)
    layers.split(genotype)[-1][1][0] = 20.0, -20.0  # the last bias; tanh of it is 1 in float32
    (raw,) = simulators.make(point_omni).play(genotype, start_keys(0, 1), layers, record=False).descriptor
    # from rest, v_n = 1 - (1 + h)^-n; its sum over 100 substeps is the way
    expected = STEP * (100 - sum((1 + STEP) ** -n for n in range(1, 101)))
    np.testing.assert_allclose(raw, [expected, -expected], atol=NOISE)
    np.testing.assert_array_equal(dcrl.rollout(point_omni, genotype).descriptor, [[3.0, -3.0]])
