"""The interface of a simulator: it plays one episode of each policy of a batch."""

from __future__ import annotations

import dataclasses
from typing import Protocol, Self

import jax
import numpy as np

from dcrl.networks.policies import Layers
from dcrl.tasks.engine import mujoco
from dcrl.types import Array, Bools, Descriptor, Evaluation, Floats, Ints, Physics, Transitions


class Simulator(Protocol):
    """A resource that plays the episodes of one task: it owns models, threads and memory until it is closed.

    Open it with `with simulators.make(task) as simulator:`. Whoever makes a simulator closes it; none is shared.
    An episode's outcome depends on its genotype and its key alone: not on its neighbours in the batch,
    on how the batch is split, or on the number of threads (on `mjx`, up to float32 rounding).
    """

    overlap: bool
    """Whether episodes may be played in another thread while JAX trains."""
    compiles: bool
    """Whether the first batch of each size is slow, because it is compiled."""

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        """Play one episode of each policy (B, P) from the start its key (B,) gives.

        Descriptors come as the task measured them, not yet clipped. `record` keeps the transitions.
        """
        ...

    def close(self) -> None:
        """Free threads and memory. A second call does nothing; a closed simulator plays no more."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def closed_error(task: str) -> RuntimeError:
    """What `play` raises once the simulator is closed."""
    return RuntimeError(f"the simulator of {task} is closed; open another with simulators.make")


def is_stable(physics: Physics, reward: Array, *rows: Array) -> Array:
    """(...) bool: every number is finite and the state within MuJoCo's own limit of a stable simulation."""
    xp = physics.xp
    largest = xp.maximum(abs(physics.qpos).max(-1), abs(physics.qvel).max(-1))
    return (largest < mujoco.mjMAXVAL) & xp.isfinite(sum((row.sum(-1) for row in rows), start=reward))


class Recorder:
    """Records a batch of episodes, step by step and in any order."""

    def __init__(
        self, size: int, horizon: int, observation_size: int, action_size: int, descriptor: Descriptor, *, record: bool
    ) -> None:
        self.over = descriptor.over
        self.rewards = np.zeros(size)
        self.descriptors = np.zeros((size, descriptor.size))
        self.steps: Ints = np.zeros(size, np.int32)
        self.terminated: Bools = np.zeros(size, bool)
        self.valid: Bools = np.ones(size, bool)
        self.transitions = None
        if record:  # untouched pages of np.empty cost no memory, so short episodes stay cheap
            self.transitions = Transitions(
                observation=np.empty((size, horizon + 1, observation_size), np.float32),
                action=np.empty((size, horizon, action_size), np.float32),
                reward=np.empty((size, horizon), np.float32),
                state_descriptor=np.empty((size, horizon + 1, descriptor.size), np.float32),
                steps=self.steps,
                terminated=self.terminated,
            )

    def begin(self, episode: Ints, observation: Floats, descriptor: Floats) -> None:
        if self.transitions is not None:
            self.transitions.observation[episode, 0] = observation
            self.transitions.state_descriptor[episode, 0] = descriptor

    def step(
        self, episode: Ints, time: Ints, action: Floats, reward: Floats, observation: Floats, descriptor: Floats
    ) -> None:
        """Record the step that starts at `time`, one row per episode."""
        self.rewards[episode] += reward
        if self.over == "mean":
            self.descriptors[episode] += descriptor
        else:
            self.descriptors[episode] = descriptor
        if self.transitions is not None:
            self.transitions.action[episode, time] = action
            self.transitions.reward[episode, time] = reward
            self.transitions.observation[episode, time + 1] = observation
            self.transitions.state_descriptor[episode, time + 1] = descriptor

    def end(self, episode: Ints, steps: Ints, terminated: Bools, valid: Bools) -> None:
        self.steps[episode] = steps
        self.terminated[episode] = terminated
        self.valid[episode] = valid

    def evaluation(self) -> Evaluation:
        descriptor = self.descriptors
        if self.over == "mean":
            descriptor = descriptor / np.maximum(self.steps, 1)[:, None]
        transitions = self.transitions
        if transitions is not None:  # invalid episodes give no transitions
            transitions = dataclasses.replace(transitions, steps=np.where(self.valid, self.steps, 0))
        return Evaluation(
            fitness=np.where(self.valid, self.rewards, np.nan).astype(np.float32),
            descriptor=np.where(self.valid[:, None], descriptor, np.nan).astype(np.float32),
            steps=self.steps,
            valid=self.valid,
            transitions=transitions,
        )
