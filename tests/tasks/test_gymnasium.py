"""The `gymnasium` simulator against Gymnasium itself, and tasks that live outside the package."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import jax
import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.networks.policies import act_each, policy_layers
from dcrl.simulators.gymnasium import SLOTS
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks import registry

ROOT = Path(__file__).parents[2]


class Slide(gymnasium.Env):
    """A thing at x that moves by its action less 1; past +3 it has arrived, past -3 it breaks as `breaks` says."""

    def __init__(self, breaks="never", tells="always"):
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2, 2), np.float64)
        self.action_space = gymnasium.spaces.Box(0, 2, (1,), np.float64)
        self.breaks, self.tells = breaks, tells

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.1, 0.1)
        return self._observation(), {"x": self.x} if self.tells == "always" else {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.x += float(action[0]) - 1
        observation, reward, info = self._observation(), abs(self.x), {"x": self.x}
        if self.x < -3:
            observation = observation / (0 if self.breaks == "observation" else 1)
            reward = {"reward": np.nan, "overflow": 1e300}.get(self.breaks, reward)
            info["x"] = np.inf if self.breaks == "info" else self.x
        return observation, reward, self.x > 3, False, info if self.tells != "never" else {"y": 0.0}

    def _observation(self):
        return np.array([[self.x, 1.0], [self.x**2, 0.0]])


gymnasium.register("test/Slide-v0", entry_point=Slide, max_episode_steps=40)
gymnasium.register("test/Endless-v0", entry_point=Slide)
gymnasium.register("test/Elsewhere-v0", entry_point="a_package_that_is_not_there:Env", max_episode_steps=9)

X = dcrl.Descriptor(names=("x",), unit="m", low=(-4.0,), high=(4.0,), over="last", clip=True)


def slide(**changes):
    given = {
        "name": "slide",
        "summary": "",
        "environment": "test/Slide-v0",
        "descriptor": X,
        "step_descriptor": dcrl.from_info("x"),
    }
    return dcrl.GymnasiumTask(**{**given, **changes})


def pushes(*actions):
    """Policies without hidden layers that always do the same."""
    genotypes = np.zeros((len(actions), 5), np.float32)
    genotypes[:, -1] = np.arctanh(actions)
    return genotypes


def play(task, genotypes, seed=0, **options):
    return dcrl.rollout(task, genotypes, seed, hidden=(), **options)


def policies(layers, count):
    return np.random.default_rng(0).normal(0, 0.2, (count, layers.parameters)).astype(np.float32)


def environment_seeds(seeds):
    return [int(jax.random.bits(key)) for key in start_keys(seeds, len(seeds))]


def test_an_episode_is_what_gymnasium_says():
    task = slide()
    evaluation = play(task, pushes(0.9, 0.5, -0.01), seed=[5, 6, 7])
    for i, (action, seed) in enumerate(zip((0.9, 0.5, -0.01), environment_seeds([5, 6, 7]), strict=True)):
        start = np.random.default_rng(seed).uniform(-0.1, 0.1)
        xs = start + action * np.arange(1, 41)
        steps = int(np.argmax(xs > 3)) + 1 if (xs > 3).any() else 40
        assert evaluation.steps[i] == steps
        assert evaluation.transitions.terminated[i] == (steps < 40)
        assert evaluation.fitness[i] == pytest.approx(np.abs(xs[:steps]).sum(), rel=1e-5)
        assert evaluation.descriptor[i, 0] == pytest.approx(xs[steps - 1], rel=1e-5)
        row = evaluation.transitions
        np.testing.assert_allclose(row.observation[i, 0], [start, 1, start**2, 0], atol=1e-6)
        np.testing.assert_allclose(row.observation[i, steps, 0], xs[steps - 1], rtol=1e-5)
        np.testing.assert_allclose(row.state_descriptor[i, : steps + 1, 0], [start, *xs[:steps]], rtol=1e-5)
        np.testing.assert_allclose(row.action[i, :steps, 0], action, rtol=1e-5)


def test_a_real_environment_step_by_step():
    task = dcrl.GymnasiumTask(
        name="pendulum",
        summary="",
        environment="Pendulum-v1",
        horizon=30,
        descriptor=X,
        step_descriptor=lambda observations, infos: observations[:, :1],
    )
    layers = policy_layers(3, 1)
    genotypes = policies(layers, 3)
    transitions = dcrl.rollout(task, genotypes, seed=range(3)).transitions
    environment = gymnasium.make("Pendulum-v1")
    for i, seed in enumerate(environment_seeds(range(3))):
        observation, _ = environment.reset(seed=seed)
        for t in range(30):
            np.testing.assert_array_equal(observation, transitions.observation[i, t])
            action = act_each(layers.split(genotypes[i : i + 1]), observation[None])[0]
            observation, reward, *_ = environment.step(2 * action)
            assert np.float32(reward) == transitions.reward[i, t]


def test_a_batch_may_be_split_anywhere():
    actions = np.random.default_rng(0).uniform(-0.2, 0.9, SLOTS + 9)  # arrive after 4 to 40 steps, or never
    seeds = range(100, 100 + len(actions))
    whole = play(slide(), pushes(*actions), seeds)
    assert len(set(whole.steps.tolist())) > 10
    for part in (slice(0, 1), slice(1, 5), slice(5, None)):
        split = play(slide(), pushes(*actions[part]), seeds[part])
        np.testing.assert_array_equal(split.fitness, whole.fitness[part])
        np.testing.assert_array_equal(split.descriptor, whole.descriptor[part])
        np.testing.assert_array_equal(split.steps, whole.steps[part])


def test_the_horizon_is_no_terminal_state():
    short = play(slide(horizon=3), pushes(0.9, 0.5))
    assert short.steps.tolist() == [3, 3]
    assert not short.transitions.terminated.any()
    assert slide().horizon == 40
    assert slide(options={"max_episode_steps": 60}, horizon=50).horizon == 50


def test_a_descriptor_over_the_mean():
    mean = dcrl.Descriptor(names=("x",), unit="m", low=(-4.0,), high=(4.0,), over="mean")
    evaluation = play(slide(descriptor=mean), pushes(0.5))
    reached = evaluation.transitions.state_descriptor[0, 1 : evaluation.steps[0] + 1, 0]
    assert evaluation.descriptor[0, 0] == pytest.approx(reached.mean(), rel=1e-6)


@pytest.mark.parametrize("breaks", ["observation", "reward", "overflow", "info"])
def test_what_is_not_finite_is_invalid(breaks):
    with np.errstate(invalid="ignore", divide="ignore"):
        evaluation = play(slide(options={"breaks": breaks}), pushes(0.5, -0.5, 0.3))
    assert evaluation.valid.tolist() == [True, False, True]
    assert np.isnan(evaluation.fitness[1])
    assert np.isnan(evaluation.descriptor[1]).all()
    assert evaluation.steps[1] < 10
    np.testing.assert_array_equal(evaluation.fitness[::2], play(slide(), pushes(0.5, 0.3)).fitness)


def test_policies_that_are_not_finite():
    genotypes = np.zeros((3, 13), np.float32)  # 4 - 2 - 1
    genotypes[1, 0] = np.nan
    genotypes[2, [2, 3, 8, 9]] = 3e38  # both hidden units overflow on the second observation, 1
    genotypes[2, 10:12] = 1, -1  # so the action is infinity less infinity
    layers = policy_layers(4, 1, (2,))
    with simulators.make(slide()) as simulator:
        evaluation = simulator.play(genotypes, start_keys(0, 3), layers, record=True)
        only = simulator.play(genotypes[1:2], start_keys(0, 1), layers, record=True)
    assert evaluation.valid.tolist() == [True, False, False]
    assert evaluation.steps.tolist() == [40, 0, 1]
    assert not only.valid.any()


def test_an_entry_that_comes_with_the_first_step():
    state = play(slide(options={"tells": "after a step"}), pushes(0.5)).transitions.state_descriptor
    always = play(slide(), pushes(0.5)).transitions.state_descriptor
    assert state[0, 0] == state[0, 1] == always[0, 1]
    assert always[0, 0] != always[0, 1]


def test_our_own_environments_are_tasks_again():
    point = registry.get("point_omni")
    task = dcrl.GymnasiumTask(
        name="point",
        summary="",
        environment="dcrl:dcrl/PointOmni-v0",
        descriptor=point.descriptor,
        step_descriptor=dcrl.from_info("step_descriptor"),
    )
    layers = policy_layers(point.observation_size, point.action_size)
    genotypes = policies(layers, 4)
    through = dcrl.rollout(task, genotypes, seed=range(4))
    straight = dcrl.rollout(point, genotypes, seed=environment_seeds(range(4)))
    np.testing.assert_array_equal(through.transitions.observation, straight.transitions.observation)
    np.testing.assert_array_equal(through.descriptor, straight.descriptor)
    np.testing.assert_allclose(through.fitness, straight.fitness, rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environment": "test/Slid-v0"}, "no environment 'test/Slid-v0'.*[Dd]id you mean"),
        ({"environment": "no_such_module:Slide-v0"}, "no environment 'no_such_module:Slide-v0'"),
        ({"environment": "test/Elsewhere-v0"}, "cannot make 'test/Elsewhere-v0'.*a_package_that_is_not_there"),
        ({"environment": "test/Endless-v0"}, "no time limit; give a horizon"),
        ({"environment": "CartPole-v1"}, "must be boxes"),
        ({"options": {"colour": "red"}}, "cannot make .*colour"),
        ({"horizon": 41}, "from 1 to test/Slide-v0's own limit of 40 steps, got 41"),
        ({"horizon": -1}, "got -1"),
        ({"step_descriptor": lambda o, i: o[:, 0]}, r"step_descriptor must return .* \(1, 1\).*got \(1,\)"),
        ({"reward": lambda r: r[:, None]}, r"reward must return .* \(1,\).*got \(1, 1\)"),
        ({"step_descriptor": dcrl.from_info("z")}, "info entry 'z', which test/Slide-v0 does not give.*it gives x"),
        ({"options": {"tells": "never"}}, "info entry 'x'.*it gives y"),
    ],
)
def test_errors_say_what_is_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        play(slide(**changes), pushes(0.5))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own_robot.py", "own_gymnasium_task.py"])
def test_the_examples_run_as_scripts(name):
    done = subprocess.run([sys.executable, ROOT / "examples" / name], capture_output=True, text=True, check=True)
    assert done.stdout.count("fitness ") == 8


@pytest.mark.parametrize(
    "reference",
    [
        "examples/own_robot.py:task",
        "examples/own_gymnasium_task.py:task",
        "examples/own_gymnasium_task.py:mountain_car",
    ],
)
def test_the_examples_roll_out(reference, monkeypatch):
    monkeypatch.chdir(ROOT)
    task = registry.get(reference)
    layers = policy_layers(task.observation_size, task.action_size, (8,))
    genotypes = policies(layers, 4)
    evaluation = dcrl.rollout(task, genotypes, seed=0, hidden=(8,))
    assert evaluation.valid.all()
    assert (evaluation.transitions.reward[evaluation.transitions.simulated] >= 0).all()
    assert len(np.unique(evaluation.descriptor, axis=0)) == 4


def test_a_package_offers_tasks(tmp_path):
    (tmp_path / "walkers.py").write_text((ROOT / "examples" / "own_robot.py").read_text())
    (tmp_path / "two_link.xml").write_text((ROOT / "examples" / "two_link.xml").read_text())
    metadata = tmp_path / "walkers-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: walkers\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[dcrl.tasks]\narm = walkers:task\nbroken = walkers:robot\n")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from dcrl.tasks import registry\n"
        "task = registry.get('arm')\n"
        "print('arm' in registry.names(), task.name, task.model.nu)\n"
        "try: registry.get('broken')\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "True two_link 2"
    assert "must be a dcrl.Task" in second
