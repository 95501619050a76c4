"""Algorithms by name: those that an installed package offers as entry points, through the command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcrl.cli.main import command
from dcrl.user_code.offered import offered
from support.small_runs import rows

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_algorithm.py"
SMALL = ("--ga-offspring", "8", "--neighbour-offspring", "8", "--cells", "64", "--cvt-samples", "1000", "--hidden", "8")
POINTS = """[dcrl.algorithms]
neighbour_me = search_package:algorithm
broken = search_package:build
absent = package_that_is_not_there:algorithm
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A directory like site-packages, with a package that offers algorithms; the working directory is another."""
    place = tmp_path / "site"
    metadata = place / "search_package-1.0.dist-info"
    metadata.mkdir(parents=True)
    (place / "search_package.py").write_text(EXAMPLE.read_text(encoding="utf-8"))
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: search-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    offered.cache_clear()
    yield
    offered.cache_clear()
    sys.modules.pop("search_package", None)


@pytest.mark.usefixtures("package")
def test_an_algorithm_of_a_package_is_listed_trained_and_resumed_by_its_name(capsys):
    assert command(["algorithms"]) == 0  # although two others cannot be loaded
    listed = capsys.readouterr()
    assert "neighbour_me" in listed.out
    assert "cannot load the installed algorithm 'absent'" in listed.err
    train = ["train", "point_omni", "--algorithm", "neighbour_me", *SMALL, "--quiet", "--evaluations", "32"]
    assert command([*train, "--output", "runs"]) == 0
    run = Path("runs/point_omni/neighbour_me/seed-0")
    assert command(["resume", str(run), "--evaluations", "64", "--quiet"]) == 0
    assert capsys.readouterr().err == ""  # it was installed: nothing to trust
    assert rows(run)[-1]["evaluations"] == "64"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broken", "must be a dcrl.AlgorithmEntry, got an object of type function"),
        ("absent", "cannot load the installed algorithm 'absent'"),
        ("neighbor_me", "did you mean neighbour_me?"),
    ],
)
def test_one_that_cannot_be_used_is_refused_with_a_sentence(name, sentence, capsys):
    assert command(["train", "point_omni", "--algorithm", name]) == 2
    refusal = capsys.readouterr().err
    assert sentence in " ".join(refusal.split())
    assert "Traceback" not in refusal
