"""Whether training can begin: the cells that a run's own initial policies reach.

MAP-Elites varies what it finds. If all initial policies behave alike, it has one parent, and may stay with it.
"""

from __future__ import annotations

import numpy as np

from dcrl import keys
from dcrl.check.findings import Note
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import policy_layers
from dcrl.simulators.simulator import Simulator
from dcrl.tasks.registry import AnyTask
from dcrl.types import Descriptor, Floats

CELLS = 1024  # of the grid at most: the default archive's number
POLICIES = (32, 256)  # fewest and most; 256 is the default number of initial policies
STEPS = 50_000  # simulated at most, above the fewest policies
FEW = 8  # cells


def explored(task: AnyTask, simulator: Simulator, seed: int = 0) -> str | Note:
    """Play the initial policies of a run and count the cells of a grid that they reach."""
    count = int(np.clip(STEPS // task.horizon, *POLICIES))
    layers = policy_layers(task.observation_size, task.action_size)
    starts = keys.each(keys.stream(keys.generation(keys.root(seed), 0), "start"), count)
    played = simulator.play(initial_policies(layers, seed, count), starts, layers, record=False)
    values, space = played.descriptor[played.valid], task.descriptor
    if not len(values):
        return Note(f"none of the {count} initial policies has a valid episode, so training would begin with nothing")
    reached, cells = occupied_cells(values, space)
    found = f"{len(values)} initial policies of training reach {reached} of {cells:,} cells"
    if reached >= FEW:
        return found
    return Note(
        f"{found}, with descriptors from {listed(values.min(axis=0))} to {listed(values.max(axis=0))} in bounds from "
        f"{listed(np.asarray(space.low))} to {listed(np.asarray(space.high))}; training may stay there: "
        f"{_advice(values, task)}"
    )


def occupied_cells(values: Floats, space: Descriptor) -> tuple[int, int]:
    """How many cells of an even grid over the bounds hold one of the descriptors (N, D), and how many there are."""
    side = max(2, int(CELLS ** (1 / space.size) + 1e-9))
    low, high = np.asarray(space.low), np.asarray(space.high)
    place = np.clip((values - low) / (high - low) * side, 0, side - 1).astype(int)
    return len(np.unique(place, axis=0)), side**space.size


def listed(values: Floats) -> str:
    return f"({', '.join(f'{value:.3g}' for value in values)})"


def _advice(values: Floats, task: AnyTask) -> str:
    outside = ((values <= task.descriptor.low) | (values >= task.descriptor.high)).any(axis=1).mean()
    if outside > 0.5:
        return f"widen the descriptor's bounds, at which {outside:.0%} of the policies are clipped"
    return (
        "narrow the descriptor's bounds to what policies can reach, lengthen the horizon "
        f"({task.horizon} steps), widen the range of the actions, or choose a descriptor in which policies differ"
    )
