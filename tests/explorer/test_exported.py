"""The page as one file that needs neither this package nor a network."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.repertoires.repertoire import Repertoire
from support.browsing import HIDDEN, assert_shows, click_at

pytest.importorskip("nicegui", reason="the explorer is an optional extra")

from dcrl.explorer.export import export


def test_an_exported_file_plays_by_itself(
    new_page: Callable[..., Any],
    run: Path,
    found: Repertoire,
    others: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "page.html"
    assert command(["explore", str(run), "--export", str(file), "--cells", "3", "--seed", "2"]) == 0
    said = capsys.readouterr().out
    assert said == f"wrote {file}: {file.stat().st_size / 1e6:.1f} MB, the map and the motions of 3 elites\n"
    page = new_page(file.as_uri())
    recorded = [
        int(cell) for cell in page.evaluate("JSON.parse(document.getElementById('archive').textContent).recorded")
    ]
    assert len(recorded) == 3
    best = int(np.nanargmax(found.fitness))
    assert best in recorded
    for cell in (best, next(cell for cell in recorded if cell != best)):
        click_at(page, found.centroids[cell])
        played = dcrl.rollout("point_omni", found.genotype[[cell]], 2, hidden=HIDDEN)
        assert_shows(page, "elite", played, 2, f"cell {cell}")
    assert "Three.js Authors, MIT" in file.read_text()
    assert (
        command(["explore", str(others["hostile.safetensors"]), "--export", str(file), "--cells", "1", "--overwrite"])
        == 0
    )
    page = new_page(file.as_uri())
    page.wait_for_selector(".dcrl-readout")
    assert page.evaluate("[window.hacked, document.querySelectorAll('img').length]") == [None, 0]


def test_exported_elites_can_be_named_by_descriptor(
    run: Path, found: Repertoire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = found.descriptor[int(np.nanargmax(found.fitness))]
    file = tmp_path / "page.html"
    place = ",".join(map(str, wanted.tolist()))
    assert command(["explore", str(run), "--export", str(file), "--descriptor", place]) == 0
    assert "the motions of 1 elite\n" in capsys.readouterr().out
    assert f'"recorded":[{int(found.nearest(wanted, 1)[0])}]' in file.read_text()
    assert command(["explore", str(run), "--export", str(file)]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err


def test_texts_of_a_run_may_look_like_marks_of_the_page(found: Repertoire, tmp_path: Path) -> None:
    space = dataclasses.replace(found.space, unit="@MOTIONS@")
    cells = [int(np.nanargmax(found.fitness))]
    export(dataclasses.replace(found, space=space), tmp_path / "page.html", cells, 0)
    assert (tmp_path / "page.html").read_text().count("@MOTIONS@") >= 1
