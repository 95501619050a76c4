"""Any Gymnasium environment as a task: its id, and what its behaviours differ in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np

from dcrl.types import Descriptor, Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class GymnasiumTask:
    """An environment with box observations and box actions, run on Gymnasium's vector API.

    step_descriptor  (observations (n, O), infos) -> (n, D); `infos` are the vector API's, one array a key.
                     `from_info` makes one that reads info entries.
    reward           environment rewards (n,) -> rewards (n,) that are never negative
    """

    name: str
    summary: str
    environment: str  # a registered id, such as "Swimmer-v5" or "package:Name-v0"
    descriptor: Descriptor
    step_descriptor: Callable[[Floats, Mapping[str, Any]], Floats]
    reward: Callable[[Floats], Floats] = lambda reward: reward
    horizon: int = 0  # 0: the environment's own time limit
    options: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments for gymnasium.make

    def __post_init__(self) -> None:
        limit = self.horizon or self._spec.max_episode_steps
        if not limit or limit < 1:
            raise ValueError(f"task {self.name}: {self.environment} has no time limit of its own; give a horizon")
        object.__setattr__(self, "horizon", limit)

    @cached_property
    def _spec(self) -> Any:
        try:
            return gymnasium.spec(self.environment)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise ValueError(f"task {self.name}: Gymnasium has no environment {self.environment!r}: {error}") from None

    @cached_property
    def spaces(self) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
        """The observation and the action space."""
        environment = gymnasium.make(self.environment, **self.options)
        observation, action = environment.observation_space, environment.action_space
        environment.close()
        if not isinstance(observation, gymnasium.spaces.Box) or not isinstance(action, gymnasium.spaces.Box):
            raise ValueError(
                f"task {self.name}: observations and actions must be boxes, got {observation} and {action}"
            )
        if not np.isfinite(action.low).all() or not np.isfinite(action.high).all():
            raise ValueError(f"task {self.name}: actions need finite bounds, got {action}")
        return observation, action

    @property
    def observation_size(self) -> int:
        return int(np.prod(self.spaces[0].shape))

    @property
    def action_size(self) -> int:
        return int(np.prod(self.spaces[1].shape))


def from_info(*entries: str) -> Callable[[Floats, Mapping[str, Any]], Floats]:
    """The step descriptor that reads these info entries, one a dimension."""

    def step_descriptor(observations: Floats, infos: Mapping[str, Any]) -> Floats:
        missing = [entry for entry in entries if entry not in infos]
        if missing:
            raise ValueError(f"the environment's info has no {', '.join(missing)}; it has {', '.join(infos)}")
        return np.stack([np.asarray(infos[entry], np.float64) for entry in entries], axis=-1)

    return step_descriptor
