"""Registers the tasks with Gymnasium. JAX and MuJoCo are imported when an environment is made.

`import dcrl` does it. Gymnasium imports `dcrl` itself for ids that name it: `gymnasium.make("dcrl:dcrl/AntOmni-v0")`.
"""

from __future__ import annotations

import gymnasium

ENVIRONMENTS = {  # the id: the task, and the steps of an episode
    "dcrl/AntOmni-v0": ("ant_omni", 250),
    "dcrl/AntTrapOmni-v0": ("anttrap_omni", 250),
    "dcrl/HumanoidOmni-v0": ("humanoid_omni", 1000),
    "dcrl/Walker2dUni-v0": ("walker2d_uni", 1000),
    "dcrl/HalfCheetahUni-v0": ("halfcheetah_uni", 1000),
    "dcrl/AntUni-v0": ("ant_uni", 1000),
    "dcrl/HumanoidUni-v0": ("humanoid_uni", 1000),
    "dcrl/HopperUni-v0": ("hopper_uni", 1000),
    "dcrl/HexapodUni-v0": ("hexapod_uni", 250),
    "dcrl/PointOmni-v0": ("point_omni", 50),
}


def register() -> None:
    """Register every task that is not registered yet."""
    for identifier, (task, steps) in ENVIRONMENTS.items():
        if identifier not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point="dcrl.environments.robot:RobotEnvironment",
                max_episode_steps=steps,
                kwargs={"task": task},
            )
