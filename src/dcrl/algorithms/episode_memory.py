"""The episodes that a run remembers, for operators that vary with them: the elites' and the latest generation's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcrl.algorithms.algorithm import Setting
from dcrl.archive.archive import Addition, Archive
from dcrl.archive.cells import cell_of
from dcrl.archive.episodes import Remembered, empty_memory, episodes_of, joined, remember
from dcrl.types import Evaluation, Floats


@dataclass(frozen=True, kw_only=True)
class EpisodeMemory:
    """How episodes are remembered; `discount` is that of their rewards-to-go."""

    discount: float

    def empty(self, setting: Setting, cells: int, offspring: int) -> Remembered:
        if setting.horizon is None:
            raise ValueError("an algorithm that keeps whole episodes needs the horizon of its task, got None")
        return empty_memory(cells, offspring, setting.horizon, setting.layers.sizes[0], setting.layers.sizes[-1])

    def update(
        self,
        before: Remembered,
        evaluations: Sequence[Evaluation],
        archive: Archive,
        addition: Addition,
        descriptor: Floats,
    ) -> Remembered:
        """After a generation; `descriptor` (B, D) is of all its offspring, of which `addition` says who is an elite."""
        recorded = [(each.transitions, each.valid) for each in evaluations]
        parts = [episodes_of(episodes, valid, self.discount) for episodes, valid in recorded if episodes is not None]
        latest = joined(parts, len(addition.added))  # without those for data only
        added = np.flatnonzero(addition.added)
        return remember(before, latest, added, cell_of(archive.centroids, descriptor[added]))
