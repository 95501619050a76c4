"""The code of a run is found from any directory, and after the run and the file were moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.user_code.location import describe, is_same, locate


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file, a run, and another file of the same name elsewhere."""
    project = tmp_path / "project"
    (project / "runs" / "seed-0").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (project / "own.py").write_text("task = 1\n")
    (tmp_path / "elsewhere" / "own.py").write_text("task = 'of somebody else'\n")
    monkeypatch.chdir(project)
    return project


def found(project: Path, about: dict[str, str]) -> Path:
    return Path(locate("own.py:task", "task", project / "runs" / "seed-0", about).removesuffix(":task")).resolve()


def test_the_file_is_found_from_any_directory(project, monkeypatch):
    about = describe("own.py:task", project / "runs" / "seed-0")
    for place in (project, project / "runs", project.parent, project.parent / "elsewhere", Path("/")):
        monkeypatch.chdir(place)
        assert found(project, about) == project / "own.py"


def test_a_project_that_was_moved_is_found_with_its_runs(project, monkeypatch):
    about = describe("own.py:task", project / "runs" / "seed-0")
    moved = project.rename(project.with_name("moved"))
    monkeypatch.chdir(project.parent / "elsewhere")  # where there is another own.py
    assert found(moved, about) == moved / "own.py"


def test_a_changed_file_is_still_found(project):
    about = describe("own.py:task", project / "runs" / "seed-0")
    (project / "own.py").write_text("task = 2\n")
    assert found(project, about) == project / "own.py"


def test_a_file_that_is_gone_is_named_with_where_it_was_looked_for(project, monkeypatch):
    about = describe("own.py:task", project / "runs" / "seed-0")
    (project / "own.py").unlink()
    with pytest.raises(ValueError, match=rf"'own.py:task', which is not at {project}/own.py; .*--task FILE:OBJECT"):
        found(project, about)
    with pytest.raises(ValueError, match=r"no module 'no_such_module'; install it, or .*--task FILE:OBJECT"):
        locate("no_such_module:task", "task", project, {})


@pytest.mark.parametrize("odd", [{"file": 3, "file_from_run": None}, {"file": "\0"}, {"file": "/", "sha256": []}])
def test_a_manifest_with_nonsense_is_no_error(project, odd):
    assert found(project, odd) == project / "own.py"


def test_two_references_to_one_object_are_the_same(project):
    run = project / "runs" / "seed-0"
    own = describe("own.py:task", run)
    assert is_same(own, describe(f"{project}/own.py:task", run))
    assert is_same({"reference": "own.py:task"}, own)
    assert not is_same(own, describe("own.py:other", run))
    assert not is_same(own, describe("../elsewhere/own.py:task", run))
    assert not is_same({"reference": "swim.py:task"}, own)
