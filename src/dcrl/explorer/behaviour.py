"""The policies that a place on the map stands for, and their episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from dcrl.repertoires.choice import choose
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire

if TYPE_CHECKING:
    from dcrl.rendering.motion import Motion

Mode: TypeAlias = Literal["elite", "actor", "both"]
MODES: tuple[Mode, ...] = get_args(Mode)


def chosen(repertoire: Repertoire, mode: Mode, cell: int | None, target: Sequence[float]) -> list[Policy]:
    """The elite of a cell or the one nearest to a target, the actor conditioned on the target, or both.

    Side by side with the actor, an empty cell stands for the elite nearest to the target.
    """
    actor = [choose(repertoire, descriptor=target, actor=True)] if mode != "elite" else []
    if mode == "actor":
        return actor
    filled = cell is not None and 0 <= cell < len(repertoire.occupied) and bool(repertoire.occupied[cell])
    if cell is None or (mode == "both" and not filled):
        return [choose(repertoire, descriptor=target), *actor]
    return [choose(repertoire, cell=cell), *actor]


def play(policy: Policy, seed: int) -> Motion:
    """One episode, in the simulator and with the task that training uses."""
    from dcrl.rendering.motion import record  # here: it loads JAX and MuJoCo, which a map can be drawn without

    return record(policy.task, policy.genotype, seed, hidden=policy.layers.sizes[1:-1])
