"""Elites from elsewhere in their cells, with the task, network and descriptor space of a repertoire like theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcrl.networks.policies import HIDDEN, policy_layers
from dcrl.repertoires import checks
from dcrl.repertoires.repertoire import Repertoire
from dcrl.tasks import registry
from dcrl.types import Floats, Ints


def template(task: str, centroids: Floats | None = None, hidden: tuple[int, ...] = HIDDEN) -> Repertoire:
    """An empty repertoire of a task; without centroids, of one cell in the middle of the descriptor space."""
    found = registry.get(task)
    space, layers = found.descriptor, policy_layers(found.observation_size, found.action_size, hidden)
    middle = np.mean([space.low, space.high], axis=0, keepdims=True).astype(np.float32)
    cells = middle if centroids is None else centroids
    return Repertoire(
        task=task,
        layers=layers,
        space=space,
        centroids=cells,
        occupied=np.zeros(len(cells), bool),
        fitness=np.full(len(cells), np.nan, np.float32),
        descriptor=np.full(cells.shape, np.nan, np.float32),
        genotype=np.zeros((len(cells), layers.parameters), np.float32),
    )


def placed(
    where: object,
    like: Repertoire,
    centroids: Floats,
    cells: Ints,
    fitness: Floats,
    descriptor: Floats,
    genotype: Floats,
) -> Repertoire:
    """Elites in their cells, checked like those of a file."""
    different, times = np.unique(cells, return_counts=True)
    if (times > 1).any():
        raise ValueError(f"{where} has more than one elite for cell {different[times > 1][0]}")
    count, space, layers = len(centroids), like.space, like.layers
    made = replace(
        like,
        centroids=centroids,
        occupied=np.zeros(count, bool),
        fitness=np.full(count, np.nan, np.float32),
        descriptor=np.full((count, space.size), np.nan, np.float32),
        genotype=np.zeros((count, layers.parameters), np.float32),
        actor_parameters=None,
    )
    made.occupied[cells] = True
    made.fitness[cells], made.descriptor[cells], made.genotype[cells] = fitness, descriptor, genotype
    checks.archive(where, {name: getattr(made, name) for name in checks.TENSORS}, layers, space)
    return made
