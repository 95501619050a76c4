r"""Our DCRL-MAP-Elites, a generation at a time.

    printf '\n\n\n' | python benchmarks/dcrl_generation.py --task ant_omni --horizon 250 --warm_up 10

prints one JSON line about what is run and three about the generations timed.
"""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from typing import Any

import jax

from dcrl import devices, simulators
from dcrl.algorithms import registry as algorithms
from dcrl.algorithms.algorithm import ArchiveConfig, Setting
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.archive.centroids import cache_directory
from dcrl.learners.td3 import TD3Config
from dcrl.networks.policies import policy_layers
from dcrl.tasks import locomotion, registry
from dcrl.tasks.task import Task
from dcrl.variation.policy_gradient import PolicyGradientConfig
from turns import CRITIC_HIDDEN, HIDDEN, Contestant, Job, Sizes, work

PACKAGES = ("dcrl-map-elites", "mujoco", "jax", "jaxlib", "numpy")
SEED = 0


def robot(job: Job) -> Task:
    task = registry.BUILT_IN[job.task]
    terminated = locomotion.never if job.whole_episodes else task.terminated
    return dataclasses.replace(task, horizon=job.horizon, terminated=terminated)


def configuration(sizes: Sizes) -> DCRLConfig:
    return DCRLConfig(
        ga_offspring=sizes.ga_offspring,
        pg_offspring=sizes.pg_offspring,
        ai_offspring=sizes.ai_offspring,
        archive=ArchiveConfig(cells=sizes.cells, cvt_samples=sizes.cvt_samples),
        pg=PolicyGradientConfig(policy_steps=sizes.policy_steps),
        td3=TD3Config(
            critic_hidden=CRITIC_HIDDEN,
            critic_steps=sizes.critic_steps,
            batch_size=sizes.batch_size,
            replay_size=sizes.replay_size,
        ),
    )


def prepare(job: Job) -> Contestant:
    devices.prepare(cache_directory())
    task = robot(job)
    setting = Setting(
        simulator=simulators.make(task),
        layers=policy_layers(task.observation_size, task.action_size, HIDDEN),
        descriptor=task.descriptor,
    )
    algorithm = algorithms.get("dcrl_me").build(setting, configuration(job.sizes))
    state, report = algorithm.start(SEED)

    def advance() -> dict[str, Any]:
        nonlocal state, report
        before = report.environment_steps
        state, report = algorithm.advance(state, SEED)
        jax.block_until_ready(state.learned)
        return {
            "generation": report.generation,
            "steps": (report.environment_steps - before) / algorithm.generation_evaluations,
            "coverage": report.coverage,
            "max_fitness": report.max_fitness,
        }

    for _ in range(job.warm_up):
        advance()
    about = {
        "what": f"dcrl dcrl_me, {job.task}{', no fall ends an episode' if job.whole_episodes else ''}",
        "versions": {package: version(package) for package in PACKAGES},
        "devices": [str(device) for device in jax.devices()],
        "observation": task.observation_size,
        "actions": task.action_size,
        "descriptor": task.descriptor.size,
    }
    return Contestant(about=about, advance=advance)


if __name__ == "__main__":
    work(prepare)
