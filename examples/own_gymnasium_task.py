"""Gymnasium environments as tasks: an id and a descriptor.

dcrl check-task examples/own_gymnasium_task.py:task
dcrl check-task examples/own_gymnasium_task.py:mountain_car
"""

from functools import partial

import jax
import numpy as np

import dcrl
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers


def not_negative(rewards):
    return np.maximum(rewards, 0.0)


# The descriptor from the environment's info: two of its entries, at the last step.
task = dcrl.GymnasiumTask(
    name="swimmer_omni",
    summary="Swimmer: swim to every position",
    environment="Swimmer-v5",
    horizon=200,  # shorter than the environment's own 1,000
    descriptor=dcrl.Descriptor(
        names=("final x", "final y"), unit="m", low=(-2.0, -2.0), high=(2.0, 2.0), over="last", clip=True
    ),
    step_descriptor=dcrl.from_info("x_position", "y_position"),
    reward=not_negative,
)


def position_and_speed(observations, infos):
    """(n, 2) from observations (n, O): where the car is and how fast it goes either way."""
    return np.stack([observations[:, 0], np.abs(observations[:, 1])], axis=-1)


# The descriptor from the observations, as the mean over the episode.
mountain_car = dcrl.GymnasiumTask(
    name="mountain_car",
    summary="Mountain car: climb at every speed",
    environment="MountainCarContinuous-v0",
    descriptor=dcrl.Descriptor(
        names=("mean position", "mean speed"),
        unit="m, m/step",
        low=(-1.2, 0.0),
        high=(0.6, 0.07),
        over="mean",
        clip=True,
    ),
    step_descriptor=position_and_speed,
    reward=lambda rewards: rewards + 0.1,  # the environment charges up to 0.1 for an action
)


if __name__ == "__main__":
    for played in (task, mountain_car):
        layers = policy_layers(played.observation_size, played.action_size)
        genotypes = jax.vmap(partial(init, layers))(jax.random.split(jax.random.key(0), 4))
        evaluation = dcrl.rollout(played, genotypes, seed=0)
        print(f"{played.name}: {'; '.join(played.descriptor.names)}")
        for fitness, descriptor, steps in zip(evaluation.fitness, evaluation.descriptor, evaluation.steps, strict=True):
            print(f"  fitness {fitness:6.2f} after {steps} steps, descriptor {descriptor.round(3)}")
