"""Repertoires that QDax saved: `tests/data/qdax-0.4.1`, made by QDax itself with `make.py` there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import dcrl
from dcrl.repertoires.placing import template
from dcrl.repertoires.qdax import from_qdax
from support.making import assert_same, ran, refused

SAVED = Path(__file__).parents[1] / "data" / "qdax-0.4.1"
TASK = ("--task", "point_omni", "--hidden", "8")


def array(name: str) -> np.ndarray:
    return np.load(SAVED / f"{name}.npy")


def test_the_elites_are_those_of_qdax_in_its_cells():
    found = from_qdax(SAVED, template("point_omni", hidden=(8,)))
    fitness = array("fitnesses")
    assert 0 < np.isinf(fitness).sum() < len(fitness)
    np.testing.assert_array_equal(found.occupied, np.isfinite(fitness))
    np.testing.assert_array_equal(found.fitness[found.occupied], fitness[found.occupied])
    np.testing.assert_array_equal(found.descriptor[found.occupied], array("descriptors")[found.occupied])
    np.testing.assert_array_equal(found.centroids, array("centroids"))
    assert (found.algorithm, found.seed, found.evaluations) == (None, None, None)


def test_the_policies_act_as_they_do_in_qdax():
    found, observations, actions = (
        from_qdax(SAVED, template("point_omni", hidden=(8,))),
        array("observations"),
        array("actions"),
    )
    for cell in np.flatnonzero(found.occupied):
        np.testing.assert_allclose(found.policy(cell)(observations), actions[cell], atol=1e-6)


def test_descriptors_are_clipped_where_the_task_clips_them(tmp_path):
    shutil.copytree(SAVED, tmp_path / "copy")
    np.save(tmp_path / "copy" / "descriptors.npy", 100 * array("descriptors"))
    found = from_qdax(tmp_path / "copy", template("point_omni", hidden=(8,)))
    assert np.nanmax(np.abs(found.descriptor)) == 3


def test_convert_reads_a_folder_and_files_with_a_prefix(tmp_path, capsys):
    folder, prefixed = tmp_path / "archive.safetensors", tmp_path / "prefixed.safetensors"
    assert ran("convert", SAVED, *TASK, "--output", folder) == 0
    assert "13 elites in 16 cells" in capsys.readouterr().out
    for name in ("genotypes", "fitnesses", "descriptors", "centroids"):
        shutil.copy(SAVED / f"{name}.npy", tmp_path / f"mine_{name}.npy")
    np.save(tmp_path / "mine_fitnesses.npy", array("fitnesses")[:, None])  # the shape of QDax 0.5
    assert ran("convert", tmp_path / "mine_genotypes.npy", "--like", folder, "--output", prefixed) == 0
    assert_same(dcrl.load(prefixed), dcrl.load(folder))
    policy = dcrl.load(folder).policy_for([0.5, 0.5])
    assert dcrl.rollout("point_omni", policy.genotype[None], hidden=(8,)).fitness.shape == (1,)


def test_what_does_not_fit_is_refused(tmp_path, capsys):
    new = ("--output", tmp_path / "new.safetensors")
    assert "name them with --task, or a run with --like" in refused(capsys, "convert", SAVED, *new)
    assert "genotypes must have the shape (16, 17538) for point_omni with layers 5 - 128 - 128 - 2, got (16, 66)" in (
        refused(capsys, "convert", SAVED, "--task", "point_omni", *new)
    )
    assert "to a .safetensors" in refused(capsys, "convert", SAVED, *TASK, "--output", tmp_path / "new.csv")
    assert "there is no task 'pint_omni'" in refused(capsys, "convert", SAVED, "--task", "pint_omni", *new)
    copy = tmp_path / "copy"
    shutil.copytree(SAVED, copy)
    (copy / "fitnesses.npy").write_bytes(b"not an array")
    assert "cannot read" in refused(capsys, "convert", copy, *TASK, *new)
    np.save(copy / "fitnesses.npy", np.array([None, {}], object), allow_pickle=True)
    assert "cannot read" in refused(capsys, "convert", copy, *TASK, *new)
    np.save(copy / "fitnesses.npy", np.arange(16))
    assert "must be an array of floating-point numbers, got int64" in refused(capsys, "convert", copy, *TASK, *new)
    (copy / "fitnesses.npy").unlink()
    assert "lacks fitnesses.npy" in refused(capsys, "convert", copy, *TASK, *new)
    assert not (tmp_path / "new.safetensors").exists()


@pytest.mark.parametrize(("name", "value"), [("genotypes", np.nan), ("descriptors", np.nan), ("fitnesses", np.nan)])
def test_numbers_that_make_no_sense_are_refused(tmp_path, name, value):
    shutil.copytree(SAVED, tmp_path / "copy")
    damaged = array(name)
    damaged[0] = value
    np.save(tmp_path / "copy" / f"{name}.npy", damaged)
    with pytest.raises(ValueError, match="copy"):
        from_qdax(tmp_path / "copy", template("point_omni", hidden=(8,)))
