"""Repertoires as tables, there and back."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import Layers
from dcrl.repertoires.convert import from_csv, to_csv
from support.making import assert_same, made, ran, refused


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
    assert "--like and --task are for reading other files" in refused(
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
