"""Whether a simulation has diverged."""

from __future__ import annotations

from dcrl.tasks.engine import mujoco
from dcrl.types import Array, Physics


def is_stable(physics: Physics, reward: Array, *rows: Array) -> Array:
    """(...) bool: every number is finite and the state within MuJoCo's own limit of a stable simulation."""
    xp = physics.xp
    largest = xp.maximum(abs(physics.qpos).max(-1), abs(physics.qvel).max(-1))
    return (largest < mujoco.mjMAXVAL) & xp.isfinite(sum((row.sum(-1) for row in rows), start=reward))
