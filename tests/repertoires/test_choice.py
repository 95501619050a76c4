"""Repertoires chosen from: by hand, and on small real runs."""

from __future__ import annotations

import numpy as np
import pytest

import dcrl
from support.making import made


def test_nearest_and_policy_for_by_hand():
    repertoire = made([1, 5, np.nan, 3], [(0.9, 1), (1.5, 1), (0, 0), (3.9, 1)])
    assert repertoire.nearest([2, 1], 4).tolist() == [1, 0, 3]  # 0.5, 1.1 and 1.9 away
    assert repertoire.nearest([2, 1], 2).tolist() == [1, 0]
    assert repertoire.nearest([4, 1], 1).tolist() == [3]
    assert repertoire.nearest([0, 1], 9, minimum_fitness=3).tolist() == [1, 3]
    assert repertoire.nearest([0, 1], 9, minimum_fitness=3.01).tolist() == [1]
    assert repertoire.policy_for([0, 1])([0.1]) == repertoire.policy(0)([0.1])
    assert repertoire.policy_for([0, 1], minimum_fitness=2)([0.1]) == repertoire.policy(1)([0.1])
    with pytest.raises(ValueError, match=r"no elite has a fitness of at least 6; the best has 5\.0"):
        repertoire.policy_for([0, 1], minimum_fitness=6)
    with pytest.raises(ValueError, match="the number of elites must be at least 1, got 0"):
        repertoire.nearest([0, 1], 0)
    with pytest.raises(ValueError, match="a descriptor of line is 2 numbers"):
        repertoire.nearest([0], 1)
    with pytest.raises(ValueError, match="the repertoire is empty"):
        made([np.nan] * 4).nearest([0, 1], 1)


def test_equally_near_elites_come_by_their_cells():
    assert made([1, 1, 1, 1]).nearest([2, 1], 4).tolist() == [1, 2, 0, 3]


def test_within_by_hand():
    repertoire = made([1, 5, np.nan, 3])
    assert repertoire.within([0, 0], [4, 2]).tolist() == [0, 1, 3]
    assert repertoire.within([1.5, 1], [3.5, 1]).tolist() == [1, 3]  # bounds included
    assert repertoire.within([1.6, 0], [3.4, 2]).tolist() == []
    assert repertoire.within([-np.inf, 0], [1, np.inf]).tolist() == [0]
    for low, high in (([1, 0], [0, 2]), ([0], [1]), ([np.nan, 0], [1, 1]), (0, 1)):
        with pytest.raises(ValueError, match="a box of descriptors of line is 2 numbers low and as many high"):
            repertoire.within(low, high)


def test_choosing_from_a_run_is_as_numpy_says(runs):
    repertoire = dcrl.load(runs["actor"])
    cells = np.flatnonzero(repertoire.occupied)
    middle = float(np.median(repertoire.fitness[cells]))
    for wanted in np.random.default_rng(0).uniform(-3, 3, (10, 2)):
        distance = {int(cell): float(np.hypot(*(repertoire.descriptor[cell] - wanted))) for cell in cells}
        assert repertoire.nearest(wanted, 5).tolist() == sorted(distance, key=distance.get)[:5]
        good = [cell for cell in distance if repertoire.fitness[cell] >= middle]
        assert repertoire.nearest(wanted, 3, middle).tolist() == sorted(good, key=distance.get)[:3]
        high = wanted + 1
        inside = [
            cell
            for cell in cells
            if all(wanted <= repertoire.descriptor[cell]) and all(repertoire.descriptor[cell] <= high)
        ]
        assert repertoire.within(wanted, high).tolist() == inside
