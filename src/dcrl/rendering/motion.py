"""One episode of a policy as a motion: poses to draw it with, and its rewards, descriptor and contacts per step.

The simulator's and the task's own code plays it, so its fitness and descriptor equal those of
`dcrl.rollout(task, genotype[None], seed)` bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcrl.networks.policies import HIDDEN, act_each, policy_layers
from dcrl.rendering import geometry
from dcrl.rendering.geometry import Shape
from dcrl.simulators.rollouts import bounded, checked, start_keys
from dcrl.simulators.stepping import State, Stepper
from dcrl.tasks import registry
from dcrl.tasks.task import Task
from dcrl.types import Bools, Descriptor, Floats


@dataclass(frozen=True, kw_only=True)
class Motion:
    """An episode of S control steps, with G geoms, D descriptor dimensions and F contact sensors.

    An invalid one (the simulation diverged) ends before the step that diverged; its fitness and descriptor are NaN.
    """

    task: str
    period: float  # s, of one control step
    qpos: Floats  # (S + 1, nq)
    qvel: Floats  # (S + 1, nv)
    position: Floats  # (S + 1, G, 3) float32, of every geom in the world, m
    rotation: Floats  # (S + 1, G, 4) float32, quaternions wxyz
    path: Floats  # (S + 1, 3), of the robot's first body, m
    action: Floats  # (S, A) float32, in [-1, 1]
    reward: Floats  # (S,)
    step_descriptor: Floats  # (S + 1, D) float32
    descriptor_so_far: Floats  # (S + 1, D) float32, of the episode if it ended here; at the start, the start state's
    contact: Bools  # (S + 1, F)
    contact_names: tuple[str, ...]  # the sensors, such as "foot_geom on floor"
    fitness: float
    descriptor: Floats  # (D,) float32, within the bounds
    terminated: bool
    valid: bool

    @property
    def steps(self) -> int:
        return len(self.reward)

    @property
    def seconds(self) -> float:
        return self.steps * self.period


def record(
    task: str | registry.AnyTask, genotype: ArrayLike, seed: int = 0, *, hidden: tuple[int, ...] = HIDDEN
) -> Motion:
    """Play one episode of the policy `genotype` (P,) from the start state of `seed`."""
    robot = _robot(task)
    layers = policy_layers(robot.observation_size, robot.action_size, hidden)
    weights = layers.split(checked(np.asarray(genotype)[None], layers, robot.name))
    stepper = Stepper(robot)
    states, physics, actions = [stepper.start(start_keys(seed, 1))], [stepper.physics], []
    valid = states[0].valid
    ended = not valid
    with np.errstate(over="ignore", invalid="ignore"):  # a diverged simulation is an outcome, not a warning
        while not ended:
            action = act_each(weights, states[-1].observation[None])[0]
            state = stepper.step(action)
            valid = state.valid and bool(np.isfinite(action).all())
            ended = not valid or state.terminated or stepper.time >= robot.horizon
            if valid:
                states.append(state)
                physics.append(stepper.physics)
                actions.append(action)
    qpos = np.concatenate([state.qpos for state in physics])
    position, rotation, path = geometry.poses(robot.model, qpos)
    contact_names, counts = geometry.contact_sensors(robot.model)
    reward = np.array([state.reward for state in states[1:]], np.float64)
    so_far = _so_far(robot.descriptor, states)
    return Motion(
        task=robot.name,
        period=robot.integration.period,
        qpos=qpos,
        qvel=np.concatenate([state.qvel for state in physics]),
        position=position,
        rotation=rotation,
        path=path,
        action=np.array(actions, np.float32).reshape(len(actions), robot.action_size),
        reward=reward,
        step_descriptor=np.array([state.step_descriptor for state in states], np.float32),
        descriptor_so_far=so_far,
        contact=np.concatenate([state.sensordata[:, counts] > 0 for state in physics]),
        contact_names=contact_names,
        fitness=float(np.float32(_sum(reward))) if valid else float("nan"),
        descriptor=bounded(so_far[-1:], robot.descriptor)[0] if valid else np.full_like(so_far[0], np.nan),
        terminated=valid and len(states) > 1 and states[-1].terminated,
        valid=valid,
    )


def shapes(task: str | registry.AnyTask) -> tuple[Shape, ...]:
    """The shapes that a motion's poses belong to: one per geom, in the same order, ground and walls included."""
    return geometry.shapes(_robot(task).model)


def _robot(task: str | registry.AnyTask) -> Task:
    found = registry.get(task)
    if not isinstance(found, Task):
        raise ValueError(
            f"task {found.name} is a Gymnasium environment, which has no poses to record; "
            "dcrl.rendering.frames.episode_frames gives its frames"
        )
    return found


def _so_far(descriptor: Descriptor, states: list[State]) -> Floats:
    """The descriptor after each step, summed in the simulator's order."""
    each = np.array([state.step_descriptor for state in states])
    if descriptor.over == "mean" and len(each) > 1:
        counts = np.arange(1, len(each))[:, None]
        each = np.concatenate([each[:1], np.add.accumulate(each[1:], axis=0) / counts])
    return each.astype(np.float32)


def _sum(values: Floats) -> float:
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0  # np.sum would add in another order
