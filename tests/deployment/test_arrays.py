"""NumPy files hold the arrays of the archive."""

from __future__ import annotations

import json

import numpy as np

import dcrl


def test_npz_files_hold_what_the_archive_holds(point, tmp_path):
    found = dcrl.load(point)
    dcrl.export(point, tmp_path / "all.npz", what="repertoire")
    with np.load(tmp_path / "all.npz", allow_pickle=False) as file:
        content = dict(file)
    cells = np.flatnonzero(found.occupied)
    np.testing.assert_array_equal(content["centroids"], found.centroids[cells])
    np.testing.assert_array_equal(content["descriptors"], found.descriptor[cells])
    np.testing.assert_array_equal(content["fitness"], found.fitness[cells])
    joined = [content[f"{part}_{i}"].reshape(len(cells), -1) for i in range(3) for part in ("kernel", "bias")]
    np.testing.assert_array_equal(np.concatenate(joined, axis=1), found.genotype[cells])
    assert {str(array.dtype) for array in content.values()} == {"float32"}
    shapes = json.loads((tmp_path / "all.npz.json").read_text())["arrays"]
    assert shapes == {name: list(array.shape) for name, array in content.items()}
