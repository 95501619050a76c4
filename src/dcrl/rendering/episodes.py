"""One episode of a policy, played and ready to be drawn: of a robot, or in a Gymnasium environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dcrl.rendering.drawing import Scene, smoothed
from dcrl.rendering.frames import Frame, check_renders, episode_frames
from dcrl.rendering.motion import Motion, record
from dcrl.rendering.video import Picture, caption, resized, split_time, with_caption
from dcrl.repertoires.policy import Policy
from dcrl.simulators.rollouts import bounded
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.registry import AnyTask
from dcrl.tasks.task import Task
from dcrl.types import Descriptor, Floats


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an episode went. The fitness and the descriptor of an invalid one are NaN."""

    steps: int
    period: float  # s, of one step
    fitness: float
    descriptor: Floats  # (D,) float32, within the bounds
    terminated: bool
    valid: bool

    @property
    def seconds(self) -> float:
        return self.steps * self.period


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of a picture, in pixels. What is None follows from the picture's own shape, or else from `usual`."""

    width: int | None
    height: int | None
    usual: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Played:
    """An episode that can be drawn."""

    outcome: Outcome
    pictures: Callable[[Floats], Iterator[Picture]]  # at times in steps, ascending


Play: TypeAlias = Callable[[Policy, int], Played]  # a policy from the start state of a seed


@contextmanager
def open_player(task: AnyTask, size: Size, *, captions: bool) -> Iterator[Play]:
    """What plays episodes of a task and draws them, with the time and the descriptor so far as captions."""
    if isinstance(task, GymnasiumTask):
        check_renders(task)
        yield lambda policy, seed: _in_environment(task, policy, seed, size, captions)
        return
    width, height = (given or usual for given, usual in zip((size.width, size.height), size.usual, strict=True))
    with closing(_scene(task, width, height)) as scene:
        yield lambda policy, seed: _of_robot(task, policy, seed, scene, captions)


def _scene(task: Task, width: int, height: int) -> Scene:
    try:
        return Scene(task, width, height)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _of_robot(task: Task, policy: Policy, seed: int, scene: Scene, captions: bool) -> Played:
    motion = record(task, policy.genotype, seed, hidden=policy.layers.sizes[1:-1])
    space = task.descriptor if captions else None
    outcome = Outcome(
        steps=motion.steps,
        period=motion.period,
        fitness=motion.fitness,
        descriptor=motion.descriptor,
        terminated=motion.terminated,
        valid=motion.valid,
    )
    return Played(outcome=outcome, pictures=lambda times: robot_pictures(scene, motion, times, space))


def robot_pictures(scene: Scene, motion: Motion, times: Floats, space: Descriptor | None = None) -> Iterator[Picture]:
    """Between two steps the robot is interpolated, so that slow control still looks smooth; `space` adds captions."""
    view, targets = scene.view(motion.qpos, motion.path), smoothed(motion.path, motion.period)
    for time in times.tolist():
        step, share = split_time(time)
        after = min(step + 1, motion.steps)
        qpos = scene.interpolate(motion.qpos[step], motion.qpos[after], share)
        target, head = ((1 - share) * points[step] + share * points[after] for points in (targets, motion.path))
        path = np.concatenate([motion.path[: step + 1], head[None]])
        picture = scene.picture(qpos, target, view, path)
        if space is not None:
            picture = with_caption(picture, caption(time * motion.period, motion.descriptor_so_far[step], space))
        yield picture


def _in_environment(task: GymnasiumTask, policy: Policy, seed: int, size: Size, captions: bool) -> Played:
    """The episode is played once for its length and outcome, and again for every series of pictures."""

    def frames() -> Generator[Frame, None, None]:
        return episode_frames(task, policy.genotype, seed, hidden=policy.layers.sizes[1:-1])

    def pictures(times: Floats) -> Iterator[Picture]:
        due = deque(times.tolist())
        with closing(frames()) as played:
            for frame in played:
                if not due:
                    return
                if split_time(due[0])[0] > frame.step:
                    continue
                picture = _fitted(frame.render(), size)
                if captions:
                    picture = with_caption(picture, caption(frame.seconds, frame.descriptor, task.descriptor))
                while due and split_time(due[0])[0] <= frame.step:
                    due.popleft()
                    yield picture
        if due:
            raise ValueError(
                f"task {task.name}: two episodes of one policy and seed differ in length, so that the second cannot "
                f"be drawn; {task.environment} must be deterministic for a given seed"
            )

    last = deque(frames(), maxlen=1).pop()
    return Played(outcome=environment_outcome(task, last), pictures=pictures)


def environment_outcome(task: GymnasiumTask, last: Frame) -> Outcome:
    """The outcome of an episode whose last frame this is."""
    descriptor = np.where(last.valid, last.descriptor, np.nan)[None].astype(np.float32)
    return Outcome(
        steps=last.step,
        period=last.seconds / last.step,
        fitness=float(np.float32(last.fitness)) if last.valid else float("nan"),
        descriptor=bounded(descriptor, task.descriptor)[0],
        terminated=last.terminated,
        valid=last.valid,
    )


def _fitted(picture: Picture, size: Size) -> Picture:
    """An environment's picture in the size asked for; without one, as large as fits into the usual size.

    It is not enlarged unless asked for. Sides are even, as videos need.
    """
    height, width = picture.shape[:2]
    if size.width is not None:
        scale = size.width / width
    elif size.height is not None:
        scale = size.height / height
    else:
        scale = min(1.0, size.usual[0] / width, size.usual[1] / height)
    return resized(picture, size.width or _even(width * scale), size.height or _even(height * scale))


def _even(side: float) -> int:
    return max(2, 2 * round(side / 2))
