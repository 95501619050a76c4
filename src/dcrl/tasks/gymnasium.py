"""Any Gymnasium environment as a task: its id and a descriptor."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import gymnasium
import numpy as np

from dcrl.hyperparameters import is_whole, make_plain
from dcrl.tasks.naming import checked_name
from dcrl.types import Descriptor, Floats


def _unchanged(reward: Floats) -> Floats:
    return reward


@dataclass(frozen=True, kw_only=True, eq=False)
class GymnasiumTask:
    """An environment with box observations and box actions, run on Gymnasium's vector API.

    step_descriptor  (observations (n, O), infos) -> (n, D) of the states just reached; `infos` are the
                     vector API's, one array of n rows per key. `from_info` makes one that reads info entries.
                     A KeyError at the start means that the environment gives the entry only after a step;
                     the start state then takes the first step's descriptor.
    reward           environment rewards (n,) -> rewards (n,) that are never negative
    """

    name: str
    summary: str
    environment: str  # a registered id, such as "Swimmer-v5", or "package:Name-v0" to import the package first
    descriptor: Descriptor
    step_descriptor: Callable[[Floats, Mapping[str, Any]], Floats]
    reward: Callable[[Floats], Floats] = _unchanged
    horizon: int = 0  # steps; 0: the environment's own time limit
    options: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments for gymnasium.make

    def __post_init__(self) -> None:
        checked_name(self.name)
        make_plain(self, "horizon")
        if not is_whole(self.horizon):
            raise ValueError(f"task {self.name}: the horizon must be a whole number of steps, got {self.horizon!r}")
        own = self.options.get("max_episode_steps", self._spec.max_episode_steps)
        limit = own if own and own > 0 else None
        if self.horizon < 0 or (limit and self.horizon > limit):
            raise ValueError(
                f"task {self.name}: the horizon must be from 1 to {self.environment}'s own limit of {limit} steps, "
                f"got {self.horizon}; options={{'max_episode_steps': {self.horizon}}} raises that limit"
            )
        if not (self.horizon or limit):
            raise ValueError(f"task {self.name}: {self.environment} has no time limit; give a horizon")
        object.__setattr__(self, "horizon", self.horizon or limit)

    @cached_property
    def _spec(self) -> gymnasium.envs.registration.EnvSpec:
        module, _, name = self.environment.rpartition(":")
        try:
            if module:
                importlib.import_module(module)
            return gymnasium.spec(name)
        except (gymnasium.error.Error, ImportError) as error:
            raise ValueError(f"task {self.name}: Gymnasium has no environment {self.environment!r}: {error}") from None

    def make(self, count: int) -> gymnasium.vector.SyncVectorEnv[Any, Any]:
        """`count` copies of the environment, without automatic resets."""
        try:
            environments = gymnasium.make_vec(
                self.environment,
                count,
                vectorization_mode="sync",
                vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED},
                **{"disable_env_checker": True, **self.options},  # its warnings repeat what the simulator checks
            )
        except (gymnasium.error.Error, ImportError, TypeError) as error:
            raise ValueError(f"task {self.name}: Gymnasium cannot make {self.environment!r}: {error}") from None
        return cast(gymnasium.vector.SyncVectorEnv[Any, Any], environments)

    @cached_property
    def spaces(self) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
        """The observation and the action space."""
        environments = self.make(1)
        observation, action = environments.single_observation_space, environments.single_action_space
        environments.close()
        if not isinstance(observation, gymnasium.spaces.Box) or not isinstance(action, gymnasium.spaces.Box):
            raise ValueError(
                f"task {self.name}: observations and actions must be boxes, got {observation} and {action}; "
                "Gymnasium's wrappers, such as FlattenObservation, can make them so"
            )
        if not (np.issubdtype(action.dtype, np.floating) and action.is_bounded()):
            raise ValueError(f"task {self.name}: actions must be floats with finite bounds, got {action}")
        return observation, action

    @property
    def observation_size(self) -> int:
        """The number of observations, O."""
        return int(np.prod(self.spaces[0].shape))

    @property
    def action_size(self) -> int:
        """The number of actions, A."""
        return int(np.prod(self.spaces[1].shape))


def from_info(*entries: str) -> Callable[[Floats, Mapping[str, Any]], Floats]:
    """The step descriptor that concatenates these info entries, numbers or vectors."""

    def step_descriptor(observations: Floats, infos: Mapping[str, Any]) -> Floats:
        columns = []
        for entry in entries:
            if entry not in infos or not np.all(
                infos[f"_{entry}"]
            ):  # Gymnasium's mask of the environments that gave it
                raise KeyError(entry)
            values = infos[entry].tolist() if infos[entry].dtype == object else infos[entry]
            columns.append(np.asarray(values, np.float64).reshape(len(observations), -1))
        return np.concatenate(columns, axis=-1)

    return step_descriptor
