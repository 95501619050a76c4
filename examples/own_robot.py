"""A task of your own: a robot in an MJCF file and a few functions of its physics state.

dcrl check-task examples/own_robot.py:task
"""

from functools import partial
from pathlib import Path

import jax
import mujoco
import numpy as np

import dcrl
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers


def robot():
    return mujoco.MjSpec.from_file(str(Path(__file__).with_name("two_link.xml")))


def start(key, qpos, qvel):
    """Nearly stretched out along x, at rest. This one is in JAX; the key is this episode's own."""
    return qpos + jax.random.uniform(key, qpos.shape, minval=-0.05, maxval=0.05), qvel


# The others compute with `physics.xp`, which is NumPy or jax.numpy, on states with any leading axes.
def observe(physics):
    angles = [physics.xp.cos(physics.qpos), physics.xp.sin(physics.qpos)]
    return physics.xp.concat([*angles, physics.qvel, physics.remaining[..., None]], axis=-1)


def reward(before, control, after):
    """Little effort: 1 at best, never negative."""
    return 1.0 - (control**2).sum(-1)


def terminated(physics):
    """Nothing ends the episode early."""
    return physics.xp.zeros(physics.qpos.shape[:-1], dtype=bool)


def hand(physics):
    """(..., 2): x and y of the only site of the model."""
    return physics.site_xpos[..., 0, :2]


task = dcrl.Task(
    name="two_link",
    summary="Two-link arm: move the hand to every reachable position with little effort",
    horizon=100,
    observations=(
        *(f"{function} {joint}" for function in ("cos", "sin") for joint in ("shoulder", "elbow")),
        "shoulder velocity (rad/s)",
        "elbow velocity (rad/s)",
        "share of the episode left",
    ),
    actions=("shoulder", "elbow"),
    descriptor=dcrl.Descriptor(
        names=("hand x", "hand y"), unit="m", low=(-0.8, -0.8), high=(0.8, 0.8), over="last", clip=True
    ),
    integration=dcrl.Integration(timestep=0.01, substeps=2),
    robot=robot,
    start=start,
    observe=observe,
    reward=reward,
    terminated=terminated,
    step_descriptor=hand,
    reads=("site_xpos",),
)


if __name__ == "__main__":
    layers = policy_layers(task.observation_size, task.action_size)
    genotypes = jax.vmap(partial(init, layers))(jax.random.split(jax.random.key(0), 8))
    evaluation = dcrl.rollout(task, genotypes, seed=0)
    for fitness, (x, y) in zip(evaluation.fitness, evaluation.descriptor, strict=True):
        print(f"fitness {fitness:6.2f}, hand at ({x:+.2f}, {y:+.2f}) m, {np.hypot(x, y):.2f} m from the shoulder")
