"""Policies for any task, their episodes, and episodes as bytes to compare."""

from __future__ import annotations

import dataclasses
from functools import cache

import jax
import numpy as np

from dcrl import keys, simulators
from dcrl.networks.policies import Layers, policy_layers
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks import registry
from dcrl.tasks.task import Task
from dcrl.types import Evaluation, Floats

HORIZON = 40  # of the episodes that tests share

Policies = tuple[Floats, jax.Array, Layers]


def random_policies(task: Task, count: int, seed: int = 1) -> Policies:
    """Genotypes with weights from 0 to large, one start key each, and their layers: what `Simulator.play` takes."""
    layers = policy_layers(task.observation_size, task.action_size)
    random = np.random.default_rng(seed)
    genotypes = np.zeros((count, layers.parameters), np.float32)
    for kernel, bias in layers.split(genotypes):
        bound = (3 / kernel.shape[1]) ** 0.5 * np.linspace(0, 2, count)[:, None, None]
        kernel[:] = random.uniform(-bound, bound, kernel.shape)
        bias[:] = random.normal(0, 0.01, bias.shape)
    return genotypes, keys.each(keys.stream(keys.root(seed), "start"), count), layers


@cache
def played(simulator: str, name: str) -> tuple[Task, Evaluation]:
    """A built-in task with a short horizon, and 64 episodes of it: the same policies and starts on any simulator."""
    task = dataclasses.replace(registry.BUILT_IN[name], horizon=HORIZON)
    genotypes, starts, layers = random_policies(task, 64)
    with simulators.make(task, simulator) as opened:
        return task, evaluate(opened, task.descriptor, genotypes, starts, layers, record=True)


def episode_bytes(evaluation: Evaluation, rows: object = None) -> list[bytes]:
    """One `bytes` per episode, with all its transitions and results."""
    every = np.arange(len(evaluation.fitness)) if rows is None else np.asarray(rows)
    return [_bytes(evaluation, row) for row in every]


def _bytes(evaluation: Evaluation, row: int) -> bytes:
    parts = [evaluation.fitness[row], evaluation.descriptor[row], evaluation.steps[row], evaluation.valid[row]]
    transitions = evaluation.transitions
    if transitions is not None:
        steps = transitions.steps[row]
        parts += [transitions.observation[row, : steps + 1], transitions.state_descriptor[row, : steps + 1]]
        parts += [transitions.action[row, :steps], transitions.reward[row, :steps], transitions.terminated[row]]
    return b"".join(np.asarray(part).tobytes() for part in parts)
