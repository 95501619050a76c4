"""Runs of a user's own algorithm: the same flags, directories, resuming, reports and trust as a built-in one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import dcrl
from dcrl.algorithms import registry
from dcrl.analysis.collection import collect
from dcrl.analysis.commands import train_command
from support.making import ran, refused
from support.offering import offer

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_algorithm.py"
FLAGS = (
    *("--ga-offspring", 4, "--neighbour-offspring", 4, "--cells", 16, "--cvt-samples", 100),
    *("--hidden", 4, "--quiet"),
)
RUN = Path("runs/point_omni/neighbour_me/seed-0")
OWN = ("--algorithm", "own.py:algorithm")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the example as own.py, and a run of it that was started in the project's directory."""
    project = tmp_path_factory.mktemp("own") / "project"
    project.mkdir()
    shutil.copy(EXAMPLE, project / "own.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        patch.setenv("DCRL_STATE", str(project.parent / "state"))
        assert ran("train", "point_omni", *OWN, *FLAGS, "--evaluations", 16) == 0
    return project


@pytest.fixture
def project(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project in which it seems to have been made; its own.py is not trusted yet."""
    shutil.copytree(trained, tmp_path / "project")
    manifest = tmp_path / "project" / RUN / "manifest.json"
    manifest.write_text(manifest.read_text().replace(str(trained), str(tmp_path / "project")))
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def test_its_configuration_is_flags_and_its_name_a_directory(trained, capsys):
    with pytest.raises(SystemExit):
        ran("train", "point_omni", "--algorithm", f"{trained}/own.py:algorithm", "--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "neighbour_me: MAP-Elites with crossover between neighbours." in said
    assert "--neighbour-offspring INT Offspring between neighbours per generation. (default: 128)" in said
    config = json.loads((trained / RUN / "config.json").read_text())
    assert config["algorithm"] == "own.py:algorithm"
    assert config["hyperparameters"]["neighbour_offspring"] == 4
    assert dcrl.load(trained / RUN).algorithm == "neighbour_me"
    header = (trained / RUN / "metrics.csv").read_text().splitlines()[0]
    assert "improvement_neighbours" in header


def test_a_resumed_run_equals_an_uninterrupted_one(trained, project):
    assert ran("train", "point_omni", *OWN, *FLAGS, "--evaluations", 32, "--output", "straight") == 0
    assert ran("resume", RUN, "--evaluations", 32, "--quiet") == 0
    straight, resumed = dcrl.load(Path("straight", *RUN.parts[1:])), dcrl.load(RUN)
    np.testing.assert_array_equal(straight.genotype, resumed.genotype)
    np.testing.assert_array_equal(straight.fitness, resumed.fitness)


def test_code_that_a_run_names_needs_consent(project, tmp_path, monkeypatch, capsys):
    said = refused(capsys, "resume", RUN, "--evaluations", 24)
    assert "has the algorithm 'own.py:algorithm', and using it runs the Python code in" in said
    assert "add --trust-algorithm" in said
    assert ran("resume", RUN, "--evaluations", 24, "--quiet", "--trust-algorithm") == 0
    monkeypatch.chdir(tmp_path)  # from another directory, and no longer a question
    assert ran("resume", project / RUN, "--evaluations", 32, "--quiet") == 0
    assert dcrl.load(project / RUN).evaluations == 32


def test_an_algorithm_that_has_changed_or_moved(project, capsys):
    shutil.move("own.py", "renamed.py")
    manifest = json.loads((RUN / "manifest.json").read_text())
    manifest["own_algorithm"] |= {"file": "/nowhere/own.py"}
    (RUN / "manifest.json").write_text(json.dumps(manifest))
    said = refused(capsys, "resume", RUN, "--evaluations", 24)
    assert "has the algorithm 'own.py:algorithm', which is not at" in said
    assert "name it with --algorithm FILE:OBJECT" in said
    assert ran("resume", RUN, "--evaluations", 24, "--quiet", "--algorithm", "renamed.py:algorithm") == 0
    Path("renamed.py").write_text(EXAMPLE.read_text().replace("maxval=2.0", "maxval=1.0"))
    said = refused(capsys, "resume", RUN, "--evaluations", 32, "--algorithm", "renamed.py:algorithm")
    assert "algorithm.sha256 was" in said


def test_only_an_own_algorithm_can_be_named_when_resuming(trained, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))
    small = ("--ga-offspring", 4, "--cells", 16, "--cvt-samples", 100, "--hidden", 4, "--quiet")
    assert ran("train", "point_omni", "--algorithm", "me", *small, "--evaluations", 8, "--output", tmp_path) == 0
    run = tmp_path / "point_omni" / "me" / "seed-0"
    said = refused(capsys, "resume", run, "--evaluations", 12, "--algorithm", f"{trained}/own.py:algorithm")
    assert "has the built-in algorithm me; --algorithm is for an algorithm of your own" in said


def test_reports_and_sweeps_know_it_by_its_name(project, capsys):
    assert ran("train", "point_omni", *OWN, *FLAGS, "--evaluations", 16, "--seed", 1) == 0
    found = collect(["runs"])
    assert found.series == ("neighbour_me",)
    assert [record.seed for record in found.records] == [0, 1]
    assert "--algorithm own.py:algorithm" in train_command(found.records[0])
    line = ("sweep", "point_omni", "--algorithms", "own.py:algorithm", "--seeds", 0, 1, "--evaluations", 24)
    assert ran(*line, "--dry-run", "--", *FLAGS[:-1]) == 0
    assert f"resume {RUN} --evaluations 24 --algorithm own.py:algorithm" in capsys.readouterr().out


def test_a_directory_of_another_algorithm_is_refused(project, tmp_path, capsys):
    (tmp_path / "own.py").write_text(EXAMPLE.read_text() + "# another algorithm\n")
    line = ("train", "point_omni", "--algorithm", f"{tmp_path}/own.py:algorithm", *FLAGS, "--overwrite")
    assert "holds a run of the algorithm 'own.py:algorithm', not of" in refused(capsys, *line)


def test_the_name_of_a_built_in_algorithm_is_refused(tmp_path, capsys):
    (tmp_path / "own.py").write_text(EXAMPLE.read_text().replace('"neighbour_me"', '"me"'))
    said = refused(capsys, "train", "point_omni", "--algorithm", f"{tmp_path}/own.py:algorithm")
    assert "has the name of the built-in algorithm me; give it another name" in said


def test_an_installed_package_offers_algorithms(monkeypatch, tmp_path, capsys):
    (tmp_path / "neighbour_package.py").write_text(EXAMPLE.read_text())
    monkeypatch.syspath_prepend(tmp_path)
    points = {"neighbour_me": "neighbour_package:algorithm", "broken": "neighbour_package:nothing"}
    offer(monkeypatch, registry.GROUP, **points)
    assert registry.get("neighbour_me").summary == "MAP-Elites with crossover between neighbours"
    assert registry.names()[-2:] == ("neighbour_me", "broken")
    with pytest.raises(ValueError, match="cannot load the installed algorithm 'broken'"):
        registry.get("broken")
