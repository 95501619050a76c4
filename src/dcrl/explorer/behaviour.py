"""What is played: an elite of the archive, or the actor told where to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats

if TYPE_CHECKING:
    from dcrl.rendering.motion import Motion

Kind: TypeAlias = Literal["elite", "actor"]
Mode: TypeAlias = Literal["elite", "actor", "both"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """A policy with what it promises: an elite its fitness and descriptor, the actor the descriptor it is asked for."""

    kind: Kind
    title: str
    genotype: Floats  # (P,)
    descriptor: Floats  # (D,)
    fitness: float | None = None


def elite(repertoire: Repertoire, cell: int) -> Behaviour:
    if not 0 <= cell < len(repertoire.occupied):
        raise ValueError(f"a cell is a number from 0 to {len(repertoire.occupied) - 1}, got {cell}")
    if not repertoire.occupied[cell]:
        raise ValueError(f"cell {cell} is empty: no elite was found there")
    return Behaviour(
        kind="elite",
        title=f"elite of cell {cell}",
        genotype=repertoire.genotype[cell],
        descriptor=repertoire.descriptor[cell],
        fitness=float(repertoire.fitness[cell]),
    )


def actor(repertoire: Repertoire, target: Sequence[float]) -> Behaviour:
    genotype = repertoire.actor_genotype(target)
    title = f"actor, asked for {', '.join(f'{value:.3g}' for value in target)}"
    return Behaviour(kind="actor", title=title, genotype=genotype, descriptor=np.asarray(target, np.float64))


def chosen(repertoire: Repertoire, mode: Mode, cell: int | None, target: Sequence[float]) -> list[Behaviour]:
    """What a place on the map stands for; beside the actor, an empty cell's nearest elite."""
    if mode == "actor":
        return [actor(repertoire, target)]
    if mode == "elite":
        return [elite(repertoire, int(repertoire.nearest(target, 1)[0]) if cell is None else cell)]
    if cell is None or not (0 <= cell < len(repertoire.occupied) and repertoire.occupied[cell]):
        cell = int(repertoire.nearest(target, 1)[0])
    return [elite(repertoire, cell), actor(repertoire, target)]


def play(repertoire: Repertoire, behaviour: Behaviour, seed: int) -> Motion:
    """One episode, in the simulator and with the task that training uses."""
    from dcrl.rendering.motion import record  # here: it loads JAX and MuJoCo, which a map can be drawn without

    return record(repertoire.task, behaviour.genotype, seed, hidden=repertoire.layers.sizes[1:-1])
