"""What a choice on the page stands for: the policies, and their episodes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from dcrl.repertoires.choice import choose
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire

Mode: TypeAlias = Literal["elite", "actor", "both"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A place on the map, what to play there, and from which start state."""

    mode: Mode
    cell: int | None
    target: list[float]
    seed: int
    pinned: int | None = None  # the cell whose elite is compared with the one chosen


@dataclass(frozen=True, kw_only=True)
class Played:
    """The motions of a choice as text for the player, and the policies that made them."""

    text: str
    found: Repertoire
    policies: tuple[Policy, ...]
    seed: int


def place(sent: Any, found: Repertoire) -> tuple[int | None, list[float]]:
    """The cell and the target that a browser sent, which may be anything; refuses what is neither."""
    cell, target = sent["cell"], [float(value) for value in sent["target"]]
    if len(target) != found.space.size or not all(map(math.isfinite, target)):
        raise ValueError(f"a target has {found.space.size} finite numbers, got {target}")
    return None if cell is None else int(cell), target


def chosen(repertoire: Repertoire, choice: Choice) -> list[Policy]:
    """The elite of a cell or the one nearest to a target, the actor conditioned on the target, or both; the pinned
    elite first.

    Side by side with the actor, an empty cell stands for the elite nearest to the target.
    """
    mode, cell, target = choice.mode, choice.cell, choice.target
    actor = [choose(repertoire, descriptor=target, actor=True)] if mode != "elite" else []
    if mode == "actor":
        return actor
    filled = cell is not None and 0 <= cell < len(repertoire.occupied) and bool(repertoire.occupied[cell])
    pinned = [] if choice.pinned is None else [choose(repertoire, cell=choice.pinned)]
    if cell is None or (mode == "both" and not filled):
        return [*pinned, choose(repertoire, descriptor=target), *actor]
    return [*pinned, choose(repertoire, cell=cell), *actor]


def simulated(
    whole: Callable[[], Repertoire], choice: Choice, turn: int, wanted: Callable[[], bool] = lambda: True
) -> Played | None:
    """The episodes that a choice stands for; None if they are no longer wanted.

    `turn` tells a repetition from what is shown already.
    """
    found = whole()  # takes a while the first time; before the simulator is loaded, so that damage is reported at once
    if not wanted():
        return None
    from dcrl.explorer.motions import message  # here: it loads JAX and MuJoCo, which a map can be drawn without

    policies = chosen(found, choice)
    pinned = 0 if choice.pinned is not None else None
    messages = [message(policy, choice.seed, pinned=i == pinned) for i, policy in enumerate(policies)]
    text = json.dumps([{**each, "turn": turn} for each in messages], allow_nan=False)
    return Played(text=text, found=found, policies=tuple(policies), seed=choice.seed)


def play_once(found: Repertoire) -> None:
    """Play an elite, so that what is compiled at the first episode is ready."""
    from dcrl.explorer.motions import message

    message(choose(found), 0)


def sentence(error: Exception) -> str:
    """An error as a sentence for the page."""
    text = str(error) if isinstance(error, ValueError) else f"simulating failed with {type(error).__name__}: {error}"
    return text[:1].upper() + text[1:].rstrip(".") + "."
