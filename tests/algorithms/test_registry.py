"""Algorithms by name: those that an installed package offers as entry points, through the command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.commands import COMMAND
from support.small_runs import rows

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_algorithm.py"
SMALL = ("--ga-offspring", "8", "--neighbour-offspring", "8", "--cells", "64", "--cvt-samples", "1000", "--hidden", "8")
POINTS = """[dcrl.algorithms]
neighbour_me = search_package:algorithm
broken = search_package:build
absent = package_that_is_not_there:algorithm
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory like site-packages, with a package that offers algorithms."""
    place = tmp_path_factory.mktemp("site")
    (place / "search_package.py").write_text(EXAMPLE.read_text(encoding="utf-8"))
    metadata = place / "search_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: search-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    return place


def ran(package: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path, "DCRL_STATE": str(place / "state")}
    return subprocess.run(
        [COMMAND, *words], cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_an_algorithm_of_a_package_is_listed_trained_and_resumed_by_its_name(package, tmp_path):
    listed = ran(package, tmp_path, "algorithms")
    assert listed.returncode == 0  # although two others cannot be loaded
    assert "neighbour_me" in listed.stdout
    assert "cannot load the installed algorithm 'absent'" in listed.stderr
    train = ("train", "point_omni", "--algorithm", "neighbour_me", *SMALL, "--quiet", "--evaluations")
    assert ran(package, tmp_path, *train, "32", "--output", "runs").returncode == 0
    run = Path("runs/point_omni/neighbour_me/seed-0")
    resumed = ran(package, tmp_path, "resume", str(run), "--evaluations", "64", "--quiet")
    assert (resumed.returncode, resumed.stderr) == (0, "")  # it was installed: nothing to trust
    assert rows(tmp_path / run)[-1]["evaluations"] == "64"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broken", "must be a dcrl.AlgorithmEntry, got an object of type function"),
        ("absent", "cannot load the installed algorithm 'absent'"),
        ("neighbor_me", "did you mean neighbour_me?"),
    ],
)
def test_one_that_cannot_be_used_is_refused_with_a_sentence(package, tmp_path, name, sentence):
    refused = ran(package, tmp_path, "train", "point_omni", "--algorithm", name)
    assert refused.returncode == 2
    assert sentence in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr
