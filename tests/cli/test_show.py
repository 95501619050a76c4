"""Repertoires shown: summaries and pictures by hand, and the command."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
from rich.console import Console

import dcrl
from dcrl.cli import output as printing
from dcrl.cli import show
from dcrl.repertoires.save import save
from dcrl.repertoires.summary import picture, summarise
from dcrl.types import Descriptor
from support.making import made, ran, refused


def test_a_summary_by_hand():
    summary = summarise(made([1, 5, np.nan, 3], algorithm="me", seed=2, evaluations=40))
    assert (summary.qd_score, summary.coverage, summary.max_fitness) == (9.0, 0.75, 5.0)
    assert (summary.cells, summary.elites) == (4, 3)
    assert summary.fitness_quantiles == (1, 2, 3, 4, 5)
    nothing = summarise(made([np.nan] * 4))
    assert (nothing.qd_score, nothing.max_fitness, nothing.fitness_quantiles) == (0, None, None)


def test_a_picture_by_hand():
    assert show.plain(picture(made([1, 5, np.nan, 3]), 8, 2)) == "0099..55\n0099..55"
    assert show.plain(picture(made([2, 2, 2, np.nan]), 4, 1)) == "000."
    assert show.plain(picture(made([np.nan] * 4), 4, 1)) == "...."
    upright = made([1, 5, np.nan, 3], centroids=np.array([[2, 0.25], [2, 0.75], [2, 1.25], [2, 1.75]], np.float32))
    assert show.plain(picture(upright, 2, 4)) == "55\n..\n99\n00"


def test_a_picture_in_colour():
    console = Console(force_terminal=True, color_system="truecolor", width=80)
    with console.capture() as captured:
        console.print(show.coloured(picture(made([1, 5, np.nan, 3]), 4, 2)))
    text = captured.get()
    assert text.count("▀") == 4
    assert "38;2;253;231;37;48;2;253;231;37" in text  # the best: yellow on yellow
    assert "38;2;58;58;58;48;2;58;58;58" in text  # empty: grey


def test_show_end_to_end(runs, tmp_path, capsys):
    repertoire = dcrl.load(runs["actor"])
    assert ran("show", runs["actor"]) == 0
    text = capsys.readouterr().out
    for expected in (
        "task         point_omni",
        "algorithm    dcrl_me",
        "seed         0",
        "evaluations  2,048",
        "policies     5 - 16 - 12 - 2, and an actor",
        f"QD score     {repertoire.archive.qd_score:,.1f}",
        f"{repertoire.occupied.sum()} of 64 cells",
        "descriptor   final x from -3 to 3, final y from -3 to 3 (m)",
    ):
        assert expected in text
    drawn = text.splitlines()[-15:]
    assert drawn == show.plain(picture(repertoire, 60, 30)[::2]).splitlines()
    assert {*"".join(drawn)} <= {*"0123456789."}
    assert "9" in "".join(drawn)
    picture_file = tmp_path / "map.png"
    assert ran("show", runs["actor"], "--output", picture_file, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["map"] == str(picture_file)
    assert (summary["elites"], summary["has_actor"], summary["seed"]) == (int(repertoire.occupied.sum()), True, 0)
    assert summary["max_fitness"] == float(repertoire.fitness[repertoire.occupied].max())
    assert picture_file.read_bytes().startswith(b"\x89PNG")
    assert "--overwrite replaces it" in refused(capsys, "show", runs["actor"], "--output", picture_file)
    assert ran("show", runs["actor"], "--output", picture_file, "--overwrite") == 0
    assert f"map          {picture_file}" in capsys.readouterr().out
    assert "must end in .png" in refused(capsys, "show", runs["plain"], "--output", tmp_path / "map.jpg")
    assert "there is no repertoire at" in refused(capsys, "show", tmp_path)


def test_show_of_other_dimensions(tmp_path, capsys):
    space = Descriptor(names=("x",), unit="m", low=(0.0,), high=(4.0,), over="last")
    base = made([1, 5, np.nan, 3])
    flat = {name: getattr(base, name)[:, :1] for name in ("centroids", "descriptor")}
    save(tmp_path / "line.safetensors", dataclasses.replace(base, space=space, **flat))
    assert ran("show", tmp_path / "line.safetensors") == 0
    text = capsys.readouterr().out
    assert "algorithm    unknown" in text
    assert "3 of 4 cells" in text
    assert "a terminal shows descriptors of 2 dimensions only" in " ".join(text.split())


def test_show_fits_a_narrow_terminal(tmp_path, capsys, monkeypatch):
    save(tmp_path / "file.safetensors", made([1, 5, np.nan, 3], algorithm="me", seed=2, evaluations=40))
    monkeypatch.setattr(printing, "console", lambda: Console(width=40, highlight=False, markup=False))
    assert ran("show", tmp_path / "file.safetensors") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert "fitness      min, quartiles, max: 1.00" in lines
    assert "             2.00  3.00  4.00  5.00" in lines
    assert lines[-1] == "0" * 10 + "9" * 10 + "." * 10 + "5" * 10


def test_counts_have_their_noun(tmp_path, capsys):
    one = made([1, np.nan, np.nan, np.nan])
    for name in "ab":
        save(tmp_path / name, one)
    assert ran("merge", tmp_path / "a", tmp_path / "b", "--output", tmp_path / "merged") == 0
    assert f"{tmp_path / 'merged'}: 1 elite in 4 cells, QD score 1.0, coverage 25.0%" in capsys.readouterr().out
