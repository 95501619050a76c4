"""Action-sequence offspring among those of DCRL-MAP-Elites and of DCG-MAP-Elites, whose data offspring come last."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.archive.cells import cell_of
from support.generations import DCRL, SMALL, assert_same, compose, history, original, snapshot

WITH = dataclasses.replace(DCRL, ascii_offspring=4)
WITH_DATA = dataclasses.replace(SMALL["dcg_me"], ascii_offspring=4)


def test_it_comes_before_what_needs_training():
    assert compose(WITH).plan == "8 ga + 4 ascii + 5 pg + 3 ai"
    assert compose(DCRLConfig()).episodes is None


@pytest.mark.parametrize("config", [WITH, WITH_DATA])
def test_the_elites_keep_their_episodes(config):
    run = original(config)
    archive, remembered = run.states[-1].archive, run.states[-1].remembered
    assert (remembered.elites.steps > 0).tolist() == archive.occupied.tolist()
    assert len(remembered.latest.steps) == run.algorithm.initial_evaluations
    # of the point, the descriptor is the place after the last step: the last observation stored is next to it
    cells = np.flatnonzero(archive.occupied)
    assert (cell_of(archive.centroids, archive.descriptor[cells]) == cells).all()
    gained = remembered.elites.reward_to_go[cells, 0]
    assert np.corrcoef(gained, archive.fitness[cells])[0, 1] > 0.5


def test_a_run_with_it_resumes_exactly():
    run = original(WITH_DATA)
    resumed = history(WITH_DATA, state=snapshot(run.states[2]))
    assert resumed.reports == run.reports[3:]
    assert_same(resumed.states[-1], run.states[-1])
