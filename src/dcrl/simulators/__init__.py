"""Simulators behind one interface, chosen by name."""

from __future__ import annotations

from importlib.util import find_spec

from dcrl.simulators.simulator import Simulator
from dcrl.simulators.trial import try_out
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.task import Task


def make(task: Task | GymnasiumTask, name: str | None = None, threads: int | None = None) -> Simulator:
    """Open a simulator of `task`: `mujoco` or `mjx` for a robot (default `mujoco`), `gymnasium` for an environment id.

    Use it in a `with` block, or call `close` when done.
    """
    fitting = ("gymnasium",) if isinstance(task, GymnasiumTask) else ("mujoco", "mjx")
    name = name or fitting[0]
    if name not in fitting:
        raise ValueError(f"task {task.name} runs on {' or '.join(fitting)}, got simulator {name!r}")
    if isinstance(task, GymnasiumTask):
        from dcrl.simulators.gymnasium import GymnasiumSimulator

        return GymnasiumSimulator(task)
    try_out(task)
    if name == "mujoco":
        from dcrl.simulators.mujoco import MujocoSimulator

        return MujocoSimulator(task, threads)
    if find_spec("mujoco.mjx") is None:
        raise ValueError("the simulator mjx is an optional extra: pip install 'dcrl-map-elites[mjx]'")
    from dcrl.simulators.mjx import MjxSimulator

    return MjxSimulator(task)
