"""Simulators behind one interface, chosen by name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from dcrl.simulators.simulator import Simulator
from dcrl.simulators.workers import HERE, Workers
from dcrl.tasks.gymnasium import GymnasiumTask

if TYPE_CHECKING:  # a worker process that steps a Gymnasium environment starts without MuJoCo
    from dcrl.tasks.task import Task


def make(
    task: Task | GymnasiumTask,
    name: str | None = None,
    threads: int | None = None,
    workers: Workers = HERE,
    reference: str | None = None,
) -> Simulator:
    """Open a simulator of `task`: `mujoco` or `mjx` for a robot (default `mujoco`), `gymnasium` for an environment id.

    Use it in a `with` block, or call `close` when done. `workers` says which processes play the episodes; other
    processes than this one find the task by `reference`, its name or `file.py:object`.
    """
    fitting = ("gymnasium",) if isinstance(task, GymnasiumTask) else ("mujoco", "mjx")
    name = name or fitting[0]
    if name not in fitting:
        raise ValueError(f"task {task.name} runs on {' or '.join(fitting)}, got simulator {name!r}")
    if workers.kind != "none":
        from dcrl.simulators.worker_pool import open_pool

        return open_pool(task, name, threads, workers, reference)
    if isinstance(task, GymnasiumTask):
        from dcrl.simulators.gymnasium import GymnasiumSimulator

        return GymnasiumSimulator(task)
    from dcrl.simulators.trial import try_out

    try_out(task)
    if name == "mujoco":
        from dcrl.simulators.mujoco import MujocoSimulator

        return MujocoSimulator(task, threads)
    if find_spec("mujoco.mjx") is None:
        raise ValueError("the simulator mjx is an optional extra: pip install 'dcrl-map-elites[mjx]'")
    from dcrl.simulators.mjx import MjxSimulator

    return MjxSimulator(task)
