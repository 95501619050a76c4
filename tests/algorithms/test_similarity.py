"""The similarity of offspring to their targets: as reported."""

from __future__ import annotations

import numpy as np
import pytest

from dcrl.algorithms.operator_reports import similarities
from dcrl.tasks.point import point_omni
from dcrl.types import Evaluation
from support.generations import SMALL, original

SPACE = point_omni.descriptor


def test_similarity_by_hand():
    low, high = np.array(SPACE.low), np.array(SPACE.high)
    unit = (high - low) / 2  # a distance of 1 in normalised descriptors
    achieved = np.tile((low + high) / 2, (4, 1))
    target = achieved.copy()
    target[1, 0] += 0.3 * unit[0]
    target[2] = np.nan
    found = Evaluation(
        fitness=np.zeros(4), descriptor=achieved, steps=np.ones(4, int), valid=np.array([True, True, True, False])
    )
    scale = similarities(SPACE, target, found, 0.1)
    np.testing.assert_allclose(scale, [1, np.exp(-3), np.nan, np.nan], rtol=1e-5)


@pytest.mark.parametrize("name", ["dcrl_me", "dcg_me", "ablation_actor"])
def test_operators_with_targets_report_their_similarity(name):
    run = original(SMALL[name])
    targeted = run.algorithm.targeted_names
    assert targeted == tuple(operator for operator in run.algorithm.operator_names if operator != "ga")
    for report in run.reports[1:]:
        for operator in report.operators:
            assert (operator.similarity is not None) == (operator.name in targeted)
            assert operator.similarity is None or 0 < operator.similarity <= 1


@pytest.mark.parametrize("name", ["me", "pga_me", "qd_pg", "me_es", "ascii_me"])
def test_without_a_conditioned_learner_there_is_none(name):
    run = original(SMALL[name])
    assert run.algorithm.targeted_names == ()
    assert all(operator.similarity is None for report in run.reports for operator in report.operators)
