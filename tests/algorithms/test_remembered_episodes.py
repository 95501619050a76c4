"""ASCII-MAP-Elites remembers the episodes of its elites, and of the latest generation."""

from __future__ import annotations

import numpy as np

from dcrl.archive.cells import cell_of
from support.generations import SMALL, assert_same, history, original, snapshot

ASCII = SMALL["ascii_me"]


def test_the_elites_keep_their_episodes():
    run = original(ASCII)
    archive, remembered = run.states[-1].archive, run.states[-1].remembered
    assert (remembered.elites.steps > 0).tolist() == archive.occupied.tolist()
    assert len(remembered.latest.steps) == run.algorithm.initial_evaluations
    # of the point, the descriptor is the place after the last step: the last observation stored is next to it
    cells = np.flatnonzero(archive.occupied)
    assert (cell_of(archive.centroids, archive.descriptor[cells]) == cells).all()
    gained = remembered.elites.reward_to_go[cells, 0]
    assert np.corrcoef(gained, archive.fitness[cells])[0, 1] > 0.5


def test_a_run_resumes_exactly():
    run = original(ASCII)
    resumed = history(ASCII, state=snapshot(run.states[2]))
    assert resumed.reports == run.reports[3:]
    assert_same(resumed.states[-1], run.states[-1])
