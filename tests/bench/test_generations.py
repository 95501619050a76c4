"""The arithmetic that `dcrl bench generation` counts, and its measurement on a small composition."""

from __future__ import annotations

import pytest

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.bench.generations import flops, measure_generations, product_gflops
from dcrl.learners.td3 import TD3Config
from dcrl.runs.config import RunConfig, open_algorithm
from dcrl.variation.policy_gradient import PolicyGradientConfig


def small(task: str):
    config = DCRLConfig(
        ga_offspring=4,
        pg_offspring=3,
        ai_offspring=2,
        archive=ArchiveConfig(cells=16, cvt_samples=200),
        pg=PolicyGradientConfig(policy_steps=5),
        td3=TD3Config(critic_hidden=(7, 6), critic_steps=4, batch_size=10, replay_size=1000),
    )
    return open_algorithm(
        RunConfig(
            task=task,
            algorithm="dcrl_me",
            evaluations=100,
            seed=0,
            simulator=None,
            hidden=(8, 9),
            hyperparameters=config,
        )
    )


def test_flops_are_the_papers_arithmetic():
    # point_omni: 5 observations, 2 actions, 2 descriptor dimensions
    critic = 9 * 7 + 7 * 6 + 6
    actor = 7 * 8 + 8 * 9 + 9 * 2
    policy = 5 * 8 + 8 * 9 + 9 * 2
    with small("point_omni") as algorithm:
        found = flops(algorithm)
    a_step = (actor + 2 * critic) + 3 * 2 * critic + (3 * actor + 2 * critic) / 2
    assert found.keys() == {"train", "pg"}
    assert found["train"] == 4 * 10 * 2 * a_step
    assert found["pg"] == 3 * 5 * 10 * 2 * (3 * policy + 2 * critic)


@pytest.mark.slow
def test_a_generation_is_measured_stage_by_stage():
    said: list[str] = []
    with small("point_omni") as algorithm:
        speed = measure_generations("point_omni", "dcrl_me", algorithm, 1, 2, 0, said.append, product_size=512)
    assert list(speed.stage_seconds) == ["train", "ga", "pg", "ai", "evaluate", "add"]
    assert all(seconds > 0 for seconds in speed.stage_seconds.values())
    assert speed.generations == (2, 3, 4, 5)  # two one stage after another, two as they run
    assert speed.generation_seconds > 0
    assert speed.sequential_seconds > 0
    assert speed.mean_steps == 50  # the point never falls
    assert speed.stage_gflops.keys() == {"train", "pg"}
    for rate in speed.stage_gflops.values():
        assert 0 < rate < speed.matmul_gflops  # tiny networks are far from the machine's limit
    assert len(said) == 3


def test_the_machines_product_is_timed():
    assert 0.1 < product_gflops(size=256, repeats=1) < 1e5
