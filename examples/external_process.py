"""Ask and tell: another program plays the episodes, such as one that controls a robot.

    python examples/external_process.py

This file is both programs. The first trains and writes a run directory. The second, `external_process.py play`, does
not use dcrl: it reads policies as JSON, one line per batch, and answers with what it observed.
"""

import json
import subprocess
import sys
from itertools import pairwise

import gymnasium
import numpy as np

HORIZON, HIDDEN = 20, (8, 8)


def play():
    """The second program: a cart that a policy pushes along a line of 2 m; it falls off beyond an end."""
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps([episode(*each) for each in zip(asked["genotypes"], asked["seeds"], strict=True)]), flush=True)


def episode(genotype, seed):
    state = np.array([np.random.default_rng(seed).uniform(-0.1, 0.1), 0.0])
    observations, actions, rewards, fell = [state.tolist()], [], [], False
    while len(actions) < HORIZON and not fell:
        action = act(np.array(genotype), state)
        state = state + 0.1 * np.array([state[1], action])
        fell = abs(state[0]) > 1
        observations.append(state.tolist())
        actions.append([action])
        rewards.append(1 - 0.5 * action**2)
    return {"observations": observations, "actions": actions, "rewards": rewards, "terminated": bool(fell)}


def act(genotype, observation):
    """A policy: per layer the kernel (in x out), then the bias; ReLU, and tanh at the end."""
    sizes, hidden, start = (2, *HIDDEN, 1), observation, 0
    for fan_in, fan_out in pairwise(sizes):
        kernel = genotype[start : start + fan_in * fan_out].reshape(fan_in, fan_out)
        bias = genotype[start + fan_in * fan_out : start + (fan_in + 1) * fan_out]
        start += (fan_in + 1) * fan_out
        hidden = hidden @ kernel + bias
        hidden = np.maximum(hidden, 0) if start < len(genotype) else np.tanh(hidden)
    return float(hidden[0])


class Elsewhere(gymnasium.Env):
    """What dcrl has to know of the robot: its observations and its actions. It is never stepped here."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)


def train(output="runs", evaluations=320):
    """The first program."""
    import dcrl
    from dcrl.algorithms.algorithm import ArchiveConfig
    from dcrl.algorithms.dcrl_me import DCRLConfig
    from dcrl.learners.td3 import TD3Config
    from dcrl.variation.policy_gradient import PolicyGradientConfig

    small = DCRLConfig(
        ga_offspring=32,
        pg_offspring=16,
        ai_offspring=16,
        archive=ArchiveConfig(cells=128, cvt_samples=5_000),
        pg=PolicyGradientConfig(policy_steps=20),
        td3=TD3Config(critic_hidden=(32, 32), critic_steps=100, replay_size=50_000),
    )
    line, pipe = [sys.executable, __file__, "play"], subprocess.PIPE
    robot = subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True)
    with dcrl.ask_tell(
        f"{__file__}:task", evaluations=evaluations, output=output, hidden=HIDDEN, hyperparameters=small
    ) as search:
        while not search.finished:
            asked = search.ask()
            policies = {"genotypes": asked.genotype.tolist(), "seeds": asked.seeds.tolist()}
            print(json.dumps(policies), file=robot.stdin, flush=True)
            report = search.tell(evaluation(json.loads(robot.stdout.readline())))
            print(f"generation {report.generation}: QD score {report.qd_score:.0f}, coverage {report.coverage:.2f}")
    robot.stdin.close()
    robot.wait()
    return dcrl.load(search.path)


def evaluation(episodes):
    """Episodes as arrays, with room for the longest possible; the descriptor is the last state."""
    import dcrl

    count = len(episodes)
    states, actions = np.zeros((count, HORIZON + 1, 2), np.float32), np.zeros((count, HORIZON, 1), np.float32)
    rewards, steps = np.zeros((count, HORIZON), np.float32), np.zeros(count, np.int32)
    for number, each in enumerate(episodes):
        steps[number] = length = len(each["actions"])
        states[number, : length + 1] = each["observations"]
        actions[number, :length] = each["actions"]
        rewards[number, :length] = each["rewards"]
    transitions = dcrl.Transitions(
        observation=states,
        action=actions,
        reward=rewards,
        state_descriptor=states,
        steps=steps,
        terminated=np.array([each["terminated"] for each in episodes]),
    )
    return dcrl.Evaluation(
        fitness=rewards.sum(axis=1),
        descriptor=states[np.arange(count), steps],
        steps=steps,
        valid=np.ones(count, bool),
        transitions=transitions,
    )


if sys.argv[1:] == ["play"]:
    play()
    sys.exit()

import dcrl  # noqa: E402, the second program does not need it

if "examples/Elsewhere-v0" not in gymnasium.registry:
    gymnasium.register("examples/Elsewhere-v0", entry_point=Elsewhere, max_episode_steps=HORIZON)
task = dcrl.GymnasiumTask(
    name="cart",
    summary="a cart on a line, elsewhere",
    environment="examples/Elsewhere-v0",
    descriptor=dcrl.Descriptor(
        names=("final x", "final velocity"), unit="m, m/s", low=(-1.2, -2.0), high=(1.2, 2.0), over="last", clip=True
    ),
    step_descriptor=lambda observations, infos: observations,
)

if __name__ == "__main__":
    train()
