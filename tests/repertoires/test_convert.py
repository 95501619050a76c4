"""Repertoires as tables and as archives of pyribs, there and back."""

from __future__ import annotations

import csv
import dataclasses
import sys

import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import Layers
from dcrl.repertoires.convert import from_csv, from_pyribs, to_csv, to_pyribs
from support.making import SPACE, assert_same, made, ran, refused


def test_a_table_by_hand(tmp_path):
    path = tmp_path / "elites.csv"
    to_csv(path, made([1, np.nan, -0.0, 0.1]))
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["cell", "fitness", "d0", "d1", "g0", "g1"]
    assert rows[1] == ["0", "1.0", "0.5", "1.0", "1.0", "10.0"]
    assert rows[2] == ["2", "-0.0", "2.5", "1.0", "-0.0", "-0.0"]
    assert [row[0] for row in rows[1:]] == ["0", "2", "3"]
    assert np.float32(rows[3][1]) == np.float32(0.1)


def test_any_float_comes_back_bit_for_bit(tmp_path):
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, (4, 5000), dtype=np.uint32).view(np.float32)
    genotype = np.where(np.isfinite(bits), bits, np.float32(1e-45))
    repertoire = made([1e-40, -3e37, 16777217, 1 / 3], layers=Layers((4999, 1)), genotype=genotype)
    to_csv(tmp_path / "elites.csv", repertoire)
    assert_same(from_csv(tmp_path / "elites.csv", repertoire), repertoire)


def test_convert_there_and_back(runs, tmp_path, capsys):
    table, back = tmp_path / "elites.csv", tmp_path / "archive.safetensors"
    assert ran("convert", runs["actor"], "--output", table) == 0
    assert ran("convert", table, "--like", runs["actor"], "--output", back) == 0
    original, found = dcrl.load(runs["actor"]), dcrl.load(back)
    assert_same(found, original)
    assert (found.algorithm, found.seed, found.evaluations) == ("dcrl_me", 0, 2048)
    assert "--overwrite" in refused(capsys, "convert", runs["actor"], "--output", table)
    wrong = ("convert", table, "--output", tmp_path / "new.safetensors")
    assert "name a run that has them with --like" in refused(capsys, *wrong)
    assert "--like is for a .csv" in refused(
        capsys, "convert", runs["plain"], "--like", runs["plain"], "--output", tmp_path / "b.csv"
    )
    for pair in ((runs["plain"], "b.safetensors"), (table, "b.csv"), (table, "b.txt")):
        assert "convert a repertoire to a .csv, or a .csv to a .safetensors" in refused(
            capsys, "convert", pair[0], "--output", tmp_path / pair[1]
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.safetensors", "elites.csv"]


HEAD = "cell,fitness,d0,d1,g0,g1\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"must have the 6 columns \['cell', 'fitness', .* of line, got 0"),
        ("cell,fitness\n", "must have the 6 columns .* got 2"),
        (HEAD + "0,1,1,1,1\n", "elites.csv, line 2: expected 6 columns, got 5"),
        (HEAD + "0,1,1,1,1,1\n4,1,1,1,1,1\n", "line 3: column 'cell' must be a whole number from 0 to 3, got '4'"),
        (HEAD + "-1,1,1,1,1,1\n", "line 2: column 'cell' must be"),
        (HEAD + "x,1,1,1,1,1\n", "line 2: column 'cell' must be"),
        (HEAD + "\n", "line 2: column 'cell' must be"),
        (HEAD + "0,one,1,1,1,1\n", "line 2: could not convert string to float: 'one'"),
        (HEAD + "0,nan,1,1,1,1\n", "tensor 'fitness' must be finite, but is not in row 0"),
        (HEAD + "0,1,1,1,1e39,1\n", "tensor 'genotype' must be finite"),
        (HEAD + "0,1,9,1,1,1\n", "tensor 'descriptor' must lie"),
        (HEAD + "1,1,1,1,1,1\n1,2,1,1,1,1\n", "has more than one elite for cell 1"),
        (HEAD + '0,"1,1,1,1,1\n', "cannot read"),
        (b"\xff\xfe\x00", "cannot read"),
        (HEAD + "0," + "1" * 200_000 + ",1,1,1,1\n", "cannot read .* field larger than field limit"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(tmp_path, text, sentence):
    path = tmp_path / "elites.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=sentence) as caught:
        from_csv(path, made([1, 1, 1, 1]))
    assert type(caught.value) is ValueError
    assert "elites.csv" in str(caught.value)


def test_a_table_without_elites_is_an_empty_repertoire(tmp_path):
    path = tmp_path / "elites.csv"
    path.write_text(HEAD)
    assert_same(from_csv(path, made([1, 1, 1, 1])), made([np.nan] * 4))


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
