"""Frames of a Gymnasium environment, which renders itself, while a policy plays one episode in it.

The episode is the `gymnasium` simulator's own, so its rewards and descriptors are those that
`dcrl.rollout(task, genotype[None], seed)` gives, number by number.
"""

from __future__ import annotations

import dataclasses
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from numpy.typing import ArrayLike

from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.rendering import camera
from dcrl.rendering.video import Picture
from dcrl.simulators.gymnasium import play_one
from dcrl.simulators.rollouts import checked, start_keys
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.types import Floats

MODE = "rgb_array"
FPS = 30  # of an environment whose metadata has no `render_fps`; Gymnasium's own default


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One state of an episode, and what has happened up to it."""

    step: int  # 0 at the start
    seconds: float  # since the start, at the environment's own `render_fps`
    reward: float  # of the step that led here; 0 at the start
    fitness: float  # the sum of the rewards so far
    descriptor: Floats  # (D,), of the episode if it ended here; NaN at a start whose `info` lacks its entries
    terminated: bool
    valid: bool  # whether all numbers are finite; the episode ends if not
    render: Callable[[], Picture]  # (height, width, 3); valid until the next frame is asked for


def episode_frames(
    task: GymnasiumTask,
    genotype: ArrayLike,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = HIDDEN,
    rendered: bool = True,
) -> Generator[Frame, None, None]:
    """Play one episode of the policy `genotype` (P,); yield its states, the start's first.

    `seed` gives the same start as in `dcrl.rollout`. Nothing is drawn unless a frame's `render` is called:

        rewards, pictures = [], []
        for frame in episode_frames(task, genotype, seed=0):
            rewards.append(frame.reward)
            if frame.step % 4 == 0:
                pictures.append(frame.render())

    Environments may be bound to a thread: iterate and render in one. Without `rendered` the environment needs no
    render mode, and frames cannot be rendered.
    """
    layers = policy_layers(task.observation_size, task.action_size, hidden)
    genotypes = checked(np.asarray(genotype)[None], layers, task.name)
    with closing(_made(task) if rendered else task.make(1)) as environments:
        period = 1 / (environments.envs[0].metadata.get("render_fps") or FPS)
        for step, so_far in enumerate(play_one(task, environments, genotypes, start_keys(seed, 1), layers)):
            transitions = so_far.transitions
            assert transitions is not None
            descriptor = so_far.descriptors[0] if step else transitions.state_descriptor[0, 0]
            yield Frame(
                step=step,
                seconds=step * period,
                reward=float(transitions.reward[0, step - 1]) if step else 0.0,
                fitness=float(so_far.rewards[0]),
                descriptor=descriptor / (max(1, step) if task.descriptor.over == "mean" else 1),
                terminated=bool(so_far.terminated[0]),
                valid=bool(so_far.valid[0]),
                render=lambda: _picture(task, environments),
            )


def check_renders(task: GymnasiumTask) -> None:
    """Render the environment once; a ValueError says why it cannot be rendered here."""
    with closing(_made(task)) as environments:
        environments.reset(seed=0)
        _picture(task, environments)


def _made(task: GymnasiumTask) -> SyncVectorEnv[Any, Any]:
    """One environment that can be rendered."""
    with closing(task.make(1)) as environments:
        modes = environments.envs[0].metadata.get("render_modes") or ()
    if MODE not in modes:
        raise ValueError(
            f"task {task.name}: {task.environment} cannot be rendered: a picture needs the render mode {MODE!r}, "
            f"and it has {', '.join(map(repr, modes)) or 'none'}"
        )
    return dataclasses.replace(task, options={**task.options, "render_mode": MODE}).make(1)


def _picture(task: GymnasiumTask, environments: SyncVectorEnv[Any, Any]) -> Picture:
    try:
        with camera.egl_if_headless(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error below says it once
            picture = np.asarray(environments.render()[0])
    except Exception as error:  # each environment fails in its own way
        _discard_frames(error)
        reason = f"task {task.name}: {task.environment} cannot be rendered here ({type(error).__name__}: {error})"
        named = isinstance(error, ImportError | gymnasium.error.DependencyNotInstalled) and "OpenGL" not in str(error)
        advice = "install what is missing" if named else f"environments of MuJoCo need OpenGL: {camera.HELP}"
        raise ValueError(f"{reason}; {advice}") from None
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise ValueError(
            f"task {task.name}: {task.environment} must render arrays (height, width, 3) of uint8, "
            f"got {picture.shape} of {picture.dtype}"
        )
    return np.ascontiguousarray(picture)


def _discard_frames(error: Exception) -> None:
    """Delete what the failed call made, silently: Gymnasium's viewer fails in `__del__` if its `__init__` failed."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        traceback.clear_frames(error.__traceback__)
    finally:
        sys.unraisablehook = before
