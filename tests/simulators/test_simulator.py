"""The contract of every simulator: a resource that is opened, played, closed, and shared with nobody."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dcrl import simulators
from dcrl.networks.policies import policy_layers
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.point import point_omni
from dcrl.types import Descriptor, Evaluation

POSITION = Descriptor(names=("position",), unit="m", low=(-2.0,), high=(2.0,), over="last", clip=True)
CAR = GymnasiumTask(
    name="car",
    summary="",
    environment="MountainCarContinuous-v0",
    descriptor=POSITION,
    step_descriptor=lambda observations, infos: observations[:, :1],
    reward=np.abs,
    horizon=3,
)
OPENED = {"mujoco": point_omni, "mjx": point_omni, "gymnasium": CAR}


@pytest.fixture(params=["mujoco", pytest.param("mjx", marks=pytest.mark.slow), "gymnasium"])
def name(request) -> str:
    if request.param == "mjx":
        pytest.importorskip("mujoco.mjx")
    return request.param


def play(simulator: simulators.Simulator, name: str) -> Evaluation:
    task = OPENED[name]
    layers = policy_layers(task.observation_size, task.action_size, (4,))
    genotypes = np.full((2, layers.parameters), 0.1, np.float32)
    return simulator.play(genotypes, start_keys(0, 2), layers, record=False)


def test_a_simulator_is_closed_at_the_end_of_its_with_block(name):
    with simulators.make(OPENED[name], name) as simulator:
        assert play(simulator, name).valid.all()
    with pytest.raises(RuntimeError, match=f"the simulator of {OPENED[name].name} is closed; open another"):
        play(simulator, name)


def test_closing_twice_is_closing_once(name):
    with simulators.make(OPENED[name], name) as simulator:
        simulator.close()
    simulator.close()


def test_closing_one_simulator_leaves_another_of_the_same_task_open(name):
    with simulators.make(OPENED[name], name) as kept:
        expected = play(kept, name)
        with simulators.make(OPENED[name], name) as other:
            assert other is not kept
            np.testing.assert_array_equal(play(other, name).fitness, expected.fitness)
        np.testing.assert_array_equal(play(kept, name).fitness, expected.fitness)


def test_no_thread_outlives_its_simulator():
    def workers() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("dcrl-mujoco")}

    before = workers()
    with simulators.make(point_omni, "mujoco", 2) as simulator:
        play(simulator, "mujoco")
        assert workers() - before
    assert not workers() - before
