"""Evaluations as they travel between processes: arrays by name, without the steps that were never simulated."""

from __future__ import annotations

import numpy as np

from dcrl.simulators.recorder import unplayed
from dcrl.types import Array, Evaluation, Ints, Transitions

Packed = dict[str, Array]
OUTCOMES = ("fitness", "descriptor", "steps", "valid")
COLUMNS = {"observation": 1, "action": 0, "reward": 0, "state_descriptor": 1}  # rows per episode beyond its steps


def pack(evaluation: Evaluation) -> Packed:
    """The outcomes and, if they were recorded, the transitions of all valid episodes, one after the other."""
    packed: Packed = {name: np.ascontiguousarray(getattr(evaluation, name)) for name in OUTCOMES}
    transitions = evaluation.transitions
    if transitions is None:
        return packed
    packed |= {"recorded": np.ascontiguousarray(transitions.steps), "terminated": transitions.terminated}
    for name, more in COLUMNS.items():
        whole = getattr(transitions, name)
        rows = [whole[episode, : steps + more] for episode, steps in enumerate(transitions.steps) if steps]
        packed[name] = np.concatenate([whole[0, :0], *rows])
    return packed


def empty_evaluation(size: int, task: Array, *, record: bool) -> Evaluation:
    """Room for the episodes of a batch."""
    shape = (task.horizon, task.observation_size, task.action_size, task.descriptor)
    return Evaluation(
        fitness=np.zeros(size, np.float32),
        descriptor=np.zeros((size, task.descriptor.size), np.float32),
        steps=np.zeros(size, np.int32),
        valid=np.zeros(size, bool),
        transitions=unplayed(size, *shape) if record else None,
    )


def unpack(packed: Packed, into: Evaluation, episodes: Ints) -> None:
    """Write packed episodes into these rows of an evaluation."""
    for name in OUTCOMES:
        getattr(into, name)[episodes] = packed[name]
    if into.transitions is None:
        return
    into.transitions.steps[episodes] = packed["recorded"]
    into.transitions.terminated[episodes] = packed["terminated"]
    for name, more in COLUMNS.items():
        _spread(packed[name], packed["recorded"], more, into.transitions, name, episodes)


def _spread(rows: Array, steps: Ints, more: int, into: Transitions, name: str, episodes: Ints) -> None:
    first, whole = 0, getattr(into, name)
    for episode, count in zip(episodes.tolist(), steps.tolist(), strict=True):
        if count:
            whole[episode, : count + more] = rows[first : first + count + more]
            first += count + more
