"""Repertoires in other cells: by hand, and with the command on a small real run."""

from __future__ import annotations

import numpy as np

import dcrl
from dcrl.archive.cells import cell_of
from dcrl.archive.centroids import centroids
from dcrl.repertoires.regrid import regrid
from support.making import SPACE, made, ran, refused


def test_regridding_by_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("DCRL_CACHE", str(tmp_path))
    repertoire = made([1, 5, np.nan, 3], algorithm="me", seed=7)
    one = regrid(repertoire, 1, samples=50)
    assert (one.fitness.tolist(), one.genotype.tolist()) == ([5.0], [[5.0, 50.0]])
    many = regrid(repertoire, 60, seed=2, samples=500)
    np.testing.assert_array_equal(many.centroids, centroids(SPACE, 60, 500, 2))
    assert sorted(many.fitness[many.occupied].tolist()) == [1, 3, 5]
    assert sorted(cell_of(many.centroids, repertoire.descriptor[[0, 1, 3]])) == np.flatnonzero(many.occupied).tolist()
    assert (many.algorithm, many.seed) == ("me", 7)


def test_regrid_end_to_end(runs, tmp_path, capsys):
    output = tmp_path / "coarse.safetensors"
    line = ("regrid", runs["plain"], "--cells", 9, "--cvt-samples", 500, "--output", output)
    assert ran(*line) == 0
    fine, coarse = dcrl.load(runs["plain"]), dcrl.load(output)
    assert coarse.centroids.shape == (9, 2)
    cells = cell_of(coarse.centroids, fine.descriptor[fine.occupied])
    for cell in range(9):
        inside = fine.fitness[fine.occupied][cells == cell]
        assert coarse.fitness[cell] == inside.max() if len(inside) else not coarse.occupied[cell]
    assert "--overwrite" in refused(capsys, *line)
    assert "at least 1 cell" in refused(capsys, *line[:3], 0, "--output", tmp_path / "x")
    assert "the seed must be" in refused(capsys, *line[:3], 9, "--seed", -1, "--output", tmp_path / "x")
