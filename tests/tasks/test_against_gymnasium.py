"""Our robots against Gymnasium's own environments: with its integrator selected, the same to the last bit."""

from __future__ import annotations

import dataclasses

import gymnasium
import jax
import numpy as np
import pytest
from mujoco.batch import Batch

from dcrl import keys
from dcrl.simulators.mujoco import STAGE
from dcrl.tasks import registry
from dcrl.tasks.task import Integration, Task
from dcrl.types import Physics

PAIRS = {
    "halfcheetah_uni": "HalfCheetah-v5",
    "walker2d_uni": "Walker2d-v5",
    "hopper_uni": "Hopper-v5",
    "ant_uni": "Ant-v5",
    "humanoid_uni": "Humanoid-v5",
}
# What Gymnasium's files choose, written out so that a change there is noticed here.
INTEGRATIONS = {
    "halfcheetah_uni": Integration(timestep=0.01, substeps=5, integrator="Euler", solver="Newton"),
    "walker2d_uni": Integration(timestep=0.002, substeps=4, integrator="RK4", solver="Newton"),
    "hopper_uni": Integration(timestep=0.002, substeps=4, integrator="RK4", solver="Newton"),
    "ant_uni": Integration(timestep=0.01, substeps=5, integrator="RK4", solver="Newton"),
    "humanoid_uni": Integration(timestep=0.003, substeps=5, integrator="RK4", solver="PGS"),
}
STEPS = 1000


@pytest.fixture(params=PAIRS)
def pair(request):
    """Gymnasium's environment, and our task with Gymnasium's integration."""
    environment = gymnasium.make(PAIRS[request.param]).unwrapped
    task = dataclasses.replace(registry.BUILT_IN[request.param], integration=INTEGRATIONS[request.param])
    yield environment, task
    environment.close()


class Ours:
    """One simulation on the way the simulator takes: a persistent batch, stepped by control periods."""

    def __init__(self, task: Task, qpos: np.ndarray, qvel: np.ndarray) -> None:
        self.task = task
        self.batch = Batch(task.model, 3, 1, persistent=True)
        self.bound = {field: self.batch.bind(field) for field in task.fields}
        self.control = self.batch.bind("ctrl")
        self.batch.reset(stage=0)
        self.bound["qpos"][1], self.bound["qvel"][1] = qpos, qvel
        self.batch.forward([1], STAGE)

    def step(self, control: np.ndarray) -> None:
        self.control[1] = control
        self.batch.step([1], self.task.integration.substeps, STAGE)

    def physics(self) -> Physics:
        fields = {name: values[1].copy() for name, values in self.bound.items()}
        return Physics(np, self.task.integration.period, np.asarray(1.0), fields)


def actions(environment: gymnasium.Env, count: int) -> np.ndarray:
    space = environment.action_space
    return np.random.default_rng(5).uniform(space.low, space.high, (count, *space.shape)).astype(np.float32)


def test_the_control_period_and_the_control_range_are_gymnasiums(pair):
    environment, task = pair
    assert task.integration.period == pytest.approx(environment.dt, abs=1e-12)
    built_in = registry.BUILT_IN[task.name]
    assert built_in.integration.period == pytest.approx(environment.dt, abs=1e-12)
    centre, half = built_in.control_range
    np.testing.assert_allclose(centre - half, environment.action_space.low, atol=1e-7)
    np.testing.assert_allclose(centre + half, environment.action_space.high, atol=1e-7)


def test_the_integrator_and_solver_compared_are_gymnasiums(pair):
    environment, task = pair
    for option in ("timestep", "integrator", "solver", "iterations", "tolerance", "cone", "jacobian", "gravity"):
        np.testing.assert_array_equal(getattr(task.model.opt, option), getattr(environment.model.opt, option))


def test_joints_follow_gymnasiums_for_a_thousand_random_actions_bit_for_bit(pair):
    environment, task = pair
    environment.reset(seed=0)
    ours = Ours(task, environment.data.qpos, environment.data.qvel)
    for time, action in enumerate(actions(environment, STEPS)):
        environment.do_simulation(action, environment.frame_skip)
        ours.step(action)
        np.testing.assert_array_equal(ours.bound["qpos"][1], environment.data.qpos, f"positions after step {time}")
        np.testing.assert_array_equal(ours.bound["qvel"][1], environment.data.qvel, f"velocities after step {time}")
    assert np.abs(ours.bound["qvel"][1]).max() > 0.01  # it moved


def shared_observation(task: Task, theirs: np.ndarray) -> np.ndarray:
    """The part of Gymnasium's observation that ours begins with, in our terms."""
    if task.name == "halfcheetah_uni":  # the pitch is one angle there and two numbers here
        return np.concatenate([theirs[:1], [np.cos(theirs[1] / 2), np.sin(theirs[1] / 2)], theirs[2:]])
    if task.name == "ant_uni":  # theirs continues with contact forces
        return theirs[:27]
    if task.name == "humanoid_uni":  # theirs continues with quantities of the state one substep earlier
        return theirs[:45]
    return theirs


def test_observations_and_falls_are_gymnasiums(pair):
    environment, task = pair
    falls = 0
    for seed in range(4):
        first, _ = environment.reset(seed=seed)
        ours = Ours(task, environment.data.qpos, environment.data.qvel)
        np.testing.assert_array_equal(
            task.observe(ours.physics())[: len(shared_observation(task, first))], shared_observation(task, first)
        )
        for action in actions(environment, 100):
            theirs, _, terminated, _, _ = environment.step(action)
            ours.step(action)
            observation = task.observe(ours.physics())
            shared = shared_observation(task, theirs)
            np.testing.assert_array_equal(observation[: len(shared)], shared)
            assert len(observation) == len(shared) + 1 or task.name == "humanoid_uni"
            assert observation[-1] == 1.0
            assert bool(task.terminated(ours.physics())) == terminated
            falls += terminated
            if terminated:
                break
    assert falls >= (0 if task.name in ("halfcheetah_uni", "ant_uni") else 4)  # the check above was put to the test


def test_every_state_is_healthy_here_where_it_is_in_gymnasium(pair):
    environment, task = pair
    random = np.random.default_rng(0)
    verdicts = []
    for _ in range(500):
        qpos = environment.init_qpos + random.normal(size=environment.model.nq) * random.choice([0.05, 0.5, 2.0])
        qvel = random.normal(size=environment.model.nv) * random.choice([1.0, 60.0])
        environment.set_state(qpos, qvel)
        fields = {"qpos": environment.data.qpos, "qvel": environment.data.qvel}
        fallen = bool(task.terminated(Physics(np, environment.dt, np.asarray(1.0), fields)))
        assert fallen == (not getattr(environment, "is_healthy", True))  # its half cheetah is always healthy
        verdicts.append(fallen)
    assert 0.1 < np.mean(verdicts) < 0.9 or task.name == "halfcheetah_uni"


def as_gymnasium_sees_it(environment: gymnasium.Env, task: Task) -> Physics:
    """Gymnasium's own data: it takes the ant's and the humanoid's velocities one substep late."""
    data = environment.data
    fields = {field: getattr(data, field).copy() for field in task.fields if field != "sensordata"}
    if task.name == "ant_uni":
        fields["qpos"][0] = data.xpos[1, 0]
    return Physics(np, environment.dt, np.asarray(1.0), fields)


def test_rewards_are_gymnasiums_without_contact_cost_clipped_at_zero(pair):
    environment, task = pair
    healthy = {"halfcheetah_uni": 0.0, "humanoid_uni": 5.0}.get(task.name, 1.0)
    paid = 0
    for seed in range(4):
        environment.reset(seed=seed)
        for action in 0.5 * actions(environment, 50):
            before = as_gymnasium_sees_it(environment, task)
            _, _, terminated, _, info = environment.step(action)
            reward = task.reward(before, action.astype(np.float64), as_gymnasium_sees_it(environment, task))
            assert terminated or info.get("reward_survive", 0.0) == healthy
            # the bonus for being healthy is paid for the last step too, as the paper's environments do
            expected = info["reward_forward"] + info["reward_ctrl"] + healthy
            assert reward == pytest.approx(max(expected, 0.0), abs=1e-6)  # Gymnasium squares float32 actions
            paid += expected > 0
            if terminated:
                break
    assert paid > 20


def test_starts_are_spread_as_gymnasiums(pair):
    environment, task = pair
    origin = environment.init_qpos.astype(np.float32), environment.init_qvel.astype(np.float32)
    start = jax.jit(jax.vmap(lambda key: task.start(key, *origin)))
    qpos, qvel = (np.asarray(part) for part in start(keys.each(keys.root(0), 1024)))
    scale = environment._reset_noise_scale
    noise = qpos - environment.init_qpos
    assert 0.99 * scale < np.abs(noise).max() <= scale * (1 + 1e-4)
    theirs_qpos, theirs_qvel = [], []
    for seed in range(256):
        environment.reset(seed=seed)
        theirs_qpos.append(environment.data.qpos - environment.init_qpos)
        theirs_qvel.append(environment.data.qvel - environment.init_qvel)
    np.testing.assert_allclose(noise.std(), np.std(theirs_qpos), rtol=0.05)
    np.testing.assert_allclose(qvel.std(), np.std(theirs_qvel), rtol=0.05)
    # uniform noise has kurtosis 1.8, normal noise 3
    kurtosis = [(np.asarray(v) ** 4).mean() / (np.asarray(v) ** 2).mean() ** 2 for v in (qvel, theirs_qvel)]
    assert kurtosis[0] == pytest.approx(kurtosis[1], abs=0.3)
    assert len(np.unique(qpos[:, -1])) > 1000
