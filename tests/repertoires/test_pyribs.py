"""Archives of pyribs: as objects there and back, and the tables that its data frames write."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from ribs.archives import GridArchive

import dcrl
from dcrl.networks.policies import Layers
from dcrl.repertoires.pyribs import from_pyribs, from_pyribs_table, to_pyribs
from support.making import SPACE, assert_same, made, ran, refused


def test_pyribs_there_and_back(runs):
    original = dcrl.load(runs["actor"])
    archive = to_pyribs(original)
    assert len(archive) == original.occupied.sum()
    assert archive.stats.qd_score == pytest.approx(original.archive.qd_score, rel=1e-6)
    elites = archive.data()
    for row, cell in enumerate(elites["index"]):
        np.testing.assert_array_equal(elites["solution"][row], original.genotype[cell])
        np.testing.assert_array_equal(elites["measures"][row], original.descriptor[cell])
    assert_same(from_pyribs(archive, original), original)
    nothing = dataclasses.replace(made([np.nan] * 4), layers=Layers((1, 1)))
    assert_same(from_pyribs(to_pyribs(nothing), nothing), nothing)


def test_another_pyribs_archive_is_refused():
    like, archive = made([1, 2, np.nan, 3]), to_pyribs(made([1, 2, np.nan, 3]))
    with pytest.raises(ValueError, match=r"measures go from \(0.0, 0.0\) to \(4.0, 2.0\), the descriptor of line from"):
        from_pyribs(archive, dataclasses.replace(like, space=dataclasses.replace(SPACE, low=(-1.0, 0.0))))
    with pytest.raises(ValueError, match=r"a policy of line has 4 parameters, the archive's solutions have \(2,\)"):
        from_pyribs(archive, dataclasses.replace(like, layers=Layers((1, 2))))
    with pytest.raises(ValueError, match=r"expected a ribs\.archives\.CVTArchive, got a list"):
        from_pyribs([], like)


def test_without_pyribs_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ribs.archives", None)
    with pytest.raises(ValueError, match=r"archives need the package ribs: pip install 'ribs>=0\.9'"):
        to_pyribs(made([1, 2, 3, 4]))


def written(path: Path, solutions: int = 2) -> dict[str, np.ndarray]:
    """A table as pyribs users write it, of a grid over `SPACE`; and what is in it."""
    archive = GridArchive(solution_dim=solutions, dims=[8, 4], ranges=list(zip(SPACE.low, SPACE.high, strict=True)))
    random = np.random.default_rng(0)
    archive.add(
        random.normal(size=(40, solutions)), random.uniform(size=40), random.uniform(SPACE.low, SPACE.high, (40, 2))
    )
    archive.data(return_type="pandas").to_csv(path)
    return archive.data()


def test_a_table_of_pyribs_goes_into_the_cells_of_another_repertoire(tmp_path):
    elites, like = written(tmp_path / "archive.csv"), made([9, np.nan, np.nan, np.nan])
    found = from_pyribs_table(tmp_path / "archive.csv", like)
    cells = elites["measures"][:, 0].astype(int)  # those of `made` are a metre each along x
    for cell in range(4):
        best = max(np.flatnonzero(cells == cell), key=lambda row: elites["objective"][row])
        assert found.fitness[cell] == np.float32(elites["objective"][best])
        np.testing.assert_array_equal(found.genotype[cell], elites["solution"][best].astype(np.float32))
        np.testing.assert_array_equal(found.descriptor[cell], elites["measures"][best].astype(np.float32))


def test_convert_reads_a_table_of_pyribs(tmp_path, capsys):
    space = dcrl.load(Path(__file__).parents[1] / "runs/data/format-1").space
    archive = GridArchive(solution_dim=66, dims=[8, 8], ranges=list(zip(space.low, space.high, strict=True)))
    random = np.random.default_rng(0)
    archive.add(random.normal(size=(40, 66)), random.uniform(size=40), random.uniform(space.low, space.high, (40, 2)))
    table, output = tmp_path / "archive.csv", tmp_path / "archive.safetensors"
    archive.data(return_type="pandas").to_csv(table)
    assert ran("convert", table, "--task", "point_omni", "--hidden", 8, "--output", output) == 0
    found = dcrl.load(output)
    assert found.task == "point_omni"
    assert len(found.centroids) == 1024
    assert found.occupied.sum() == len(archive)
    assert found.archive.qd_score == pytest.approx(archive.stats.obj_mean * len(archive), rel=1e-6)
    wrong = ("convert", table, "--output", tmp_path / "new.safetensors")
    assert "name them with --task, or a run with --like" in refused(capsys, *wrong)
    assert "must have 17538 columns solution_0, solution_1, ... for point_omni, got 66" in refused(
        capsys, *wrong, "--task", "point_omni"
    )
    assert "not both" in refused(capsys, *wrong, "--task", "point_omni", "--like", table)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("objective", "inf"), "must have finite numbers"),
        (("solution_0", "1e39"), "must have finite numbers"),
        (("solution_0", "one"), "cannot read .* could not convert string to float: 'one'"),
        (("measures_1", "-0.5"), r"measures must lie from \(0.0, 0.0\) to \(4.0, 2.0\)"),
    ],
)
def test_a_table_of_pyribs_that_does_not_fit_is_refused(tmp_path, change, sentence):
    path = tmp_path / "archive.csv"
    written(path)
    header, first, *rest = path.read_text().splitlines()
    row = first.split(",")
    row[header.split(",").index(change[0])] = change[1]
    path.write_text("\n".join([header, ",".join(row), *rest]))
    with pytest.raises(ValueError, match=sentence):
        from_pyribs_table(path, made([1, 1, 1, 1]))
    path.write_text("\n".join([header, "1,2"]))
    with pytest.raises(ValueError, match="cannot read"):
        from_pyribs_table(path, made([1, 1, 1, 1]))
