"""The parity check finds what differs, and nothing is kept then."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dcrl
from dcrl.deployment import arrays, graph, parity
from support.exporting import WHATS


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("module", [graph, arrays])
def test_a_broken_file_is_refused_and_not_kept(point, tmp_path, monkeypatch, what, module):
    """One weight of what is exported is off by 0.01, which the parity check must see."""
    make = getattr(module, what)

    def broken(found: dcrl.Repertoire, *cell: int) -> bytes:
        genotype, actor = found.genotype.copy(), np.array(found.actor_parameters)
        genotype[:, 3] += 0.01
        actor[3] += 0.01
        return make(dataclasses.replace(found, genotype=genotype, actor_parameters=actor), *cell)

    monkeypatch.setattr(module, what, broken)
    path = tmp_path / f"file.{'onnx' if module is graph else 'npz'}"
    with pytest.raises(ValueError, match=r"differs from its source by 0\.0.* 1e-05 is allowed; nothing was written"):
        dcrl.export(point, path, what=what, descriptor=[0, 0] if what == "elite" else None)
    assert list(tmp_path.iterdir()) == []


def test_the_wrong_elite_or_no_number_is_a_difference(point):
    found = dcrl.load(point)
    one, other = np.flatnonzero(found.occupied)[:2].tolist()
    run = graph.runner(graph.elite(found, one))
    assert parity.fixed_difference(run, found.policy(one), 5) <= 1e-6
    assert parity.fixed_difference(run, found.policy(other), 5) > 0.1
    nothing = lambda observation, descriptor: np.full((len(observation), 2), np.nan, np.float32)
    assert np.isnan(parity.fixed_difference(nothing, found.policy(one), 5))
    assert np.isnan(parity.chosen_difference(nothing, found.actor, 5, found.space))
    narrow = lambda observation, descriptor: run(observation, None)[:, :1]
    assert parity.fixed_difference(narrow, found.policy(one), 5) == np.inf
