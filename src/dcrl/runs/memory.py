"""How much memory a run needs, computed from its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.algorithms.compose import Composition
from dcrl.networks.policies import policy_layers
from dcrl.runs.config import RunConfig
from dcrl.tasks import registry as tasks
from dcrl.tasks.registry import AnyTask

if TYPE_CHECKING:
    from dcrl.simulators.simulator import Simulator

PROCESS = 450 * 2**20  # bytes of Python, JAX, MuJoCo and their threads, measured


def memory(task: AnyTask, algorithm: Algorithm) -> int:
    """Bytes of the archive (old and new), the replay buffer, a generation's transitions, its samples, and episodes."""
    layers = algorithm.setting.layers
    batch = max(algorithm.initial_evaluations, algorithm.generation_evaluations)
    row = 4 * (task.observation_size + task.action_size + task.descriptor.size + 2)
    total = 2 * 4 * algorithm.archive_config.cells * layers.parameters + 3 * 4 * batch * layers.parameters
    if algorithm.learners:
        learner = algorithm.learners[0]
        total += row * (learner.config.replay_size + batch * task.horizon)
        total += (row + 4 * task.observation_size) * learner.config.critic_steps * learner.config.batch_size
    if isinstance(algorithm, Composition) and algorithm.episodes:
        step = 4 * (task.observation_size + task.action_size + 1)
        total += 2 * step * task.horizon * (algorithm.archive_config.cells + batch)  # old and new
    return total


def process_memory(config: RunConfig) -> int:
    """Bytes of the whole process of a run, at most."""
    return PROCESS + memory(tasks.get(config.task), without_simulator(config))


def without_simulator(config: RunConfig) -> Algorithm:
    """The algorithm that a configuration describes, to be asked about its sizes; it cannot run."""
    task = tasks.get(config.task)
    setting = Setting(
        simulator=cast("Simulator", None),
        layers=policy_layers(task.observation_size, task.action_size, config.hidden),
        descriptor=task.descriptor,
        descriptor_from_observation=getattr(task, "descriptor_from_observation", None),
        horizon=task.horizon,
    )
    return algorithms.get(config.algorithm).build(setting, config.hyperparameters)
