"""Records episodes as they are played."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np

from dcrl import memory
from dcrl.types import Bools, Descriptor, Evaluation, Floats, Ints, Transitions


def unplayed(size: int, horizon: int, observation_size: int, action_size: int, descriptor: Descriptor) -> Transitions:
    """Room for so many episodes; short ones stay cheap."""
    room = partial(memory.uninitialised, small_pages=True)
    return Transitions(
        observation=room((size, horizon + 1, observation_size)),
        action=room((size, horizon, action_size)),
        reward=room((size, horizon)),
        state_descriptor=room((size, horizon + 1, descriptor.size)),
        steps=np.zeros(size, np.int32),
        terminated=np.zeros(size, bool),
    )


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
        if record:
            self.transitions = unplayed(size, horizon, observation_size, action_size, descriptor)
            self.transitions = dataclasses.replace(self.transitions, steps=self.steps, terminated=self.terminated)

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
