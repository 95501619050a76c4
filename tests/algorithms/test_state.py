"""What a state notes about its elites."""

from __future__ import annotations

import dataclasses

import numpy as np

from dcrl.algorithms.state import State, empty_state, with_entries
from dcrl.archive import archive as archives


def test_the_generation_of_entry_follows_the_elites() -> None:
    centroids = np.array([[0.0], [1.0], [2.0]], np.float32)

    def after(before: State | None, generation: int, *offspring: tuple[float, float, float]) -> State:
        """The state with offspring (genotype, fitness, descriptor) added."""
        start = before or empty_state(archives.empty(centroids, 1))
        genotype, fitness, descriptor = (np.array(column, np.float32) for column in zip(*offspring, strict=True))
        archive, _ = archives.add(start.archive, genotype[:, None], fitness, descriptor[:, None])
        return with_entries(dataclasses.replace(start, generation=generation, archive=archive), before)

    first = after(None, 0, (1, 5.0, 0.0), (2, 5.0, 1.0))
    np.testing.assert_array_equal(first.entered, [0, 0, np.nan])
    second = after(first, 1, (3, 4.0, 0.0), (4, 6.0, 1.0))  # the first is worse than the elite
    np.testing.assert_array_equal(second.entered, [0, 1, np.nan])
    third = after(second, 2, (5, 1.0, 2.0))
    np.testing.assert_array_equal(third.entered, [0, 1, 2])
    np.testing.assert_array_equal(first.entered, [0, 0, np.nan])  # states are values
    unknown = dataclasses.replace(second, entered=empty_state(second.archive).entered)  # from an old checkpoint
    np.testing.assert_array_equal(after(unknown, 7, (6, 9.0, 1.0)).entered, [np.nan, 7, np.nan])
