"""Runs of a user's own tasks: one directory each, found again from anywhere, and no question about one's own code."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

import dcrl
from dcrl.analysis.collection import collect
from support.making import ran, refused

TASK = (
    "from dataclasses import replace\nfrom dcrl.tasks.point import point_omni\ntask = replace(point_omni, name={!r})\n"
)
SMALL = ("--algorithm", "me", "--ga-offspring", 8, "--cells", 16, "--cvt-samples", 100, "--hidden", 4, "--quiet")
PEND = Path("runs/pend/me/seed-0")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a file pend.py and a run of its task, started in the project's directory."""
    project = tmp_path_factory.mktemp("own") / "project"
    project.mkdir()
    for name in ("pend", "swim"):
        (project / f"{name}.py").write_text(TASK.format(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        patch.setenv("DCRL_STATE", str(project.parent / "state"))
        assert ran("train", "pend.py:task", *SMALL, "--evaluations", 16) == 0
    return project


@pytest.fixture
def project(trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DCRL_STATE", str(trained.parent / "state"))
    monkeypatch.chdir(trained)
    return trained


def test_each_task_has_a_directory_of_its_own_name(project):
    assert ran("train", "swim.py:task", *SMALL, "--evaluations", 8) == 0
    assert dcrl.load("runs/pend/me/seed-0").task == "pend.py:task"
    assert dcrl.load("runs/swim/me/seed-0").task == "swim.py:task"
    assert set(collect(["runs"]).tasks) == {"pend", "swim"}


def test_a_run_continues_from_any_directory_without_a_question(project, tmp_path, monkeypatch, capsys):
    shutil.copytree(project / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    assert ran("resume", PEND, "--evaluations", 24, "--quiet") == 0
    assert dcrl.load(PEND).evaluations == 24
    assert json.loads((PEND / "config.json").read_text())["task"] == "pend.py:task"
    assert ran("export", PEND, "--output", "elite.npz") == 0
    assert ran("evaluate", PEND, "--repeats", 1) == 0


def test_a_task_that_was_moved_is_named(project, tmp_path, monkeypatch, capsys):
    shutil.copytree(project / "runs", tmp_path / "runs")
    manifest = json.loads((tmp_path / PEND / "manifest.json").read_text())
    manifest["own_task"] |= {"file": "/nowhere/pend.py", "file_from_run": "nowhere/pend.py"}
    (tmp_path / PEND / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    for line in (["resume", PEND], ["evaluate", PEND], ["export", PEND, "--output", "a.npz"]):
        said = refused(capsys, *line)
        assert "has the task 'pend.py:task', which is not at" in said
        assert "/nowhere/pend.py" in said
        assert "--task FILE:OBJECT" in said
    shutil.copy(project / "pend.py", tmp_path / "renamed.py")
    assert ran("resume", PEND, "--evaluations", 24, "--quiet", "--task", "renamed.py:task") == 0
    assert ran("export", PEND, "--output", "a.npz") == 0  # where it is now has been noted
    (tmp_path / "other.py").write_text(TASK.format("pend") + "task = replace(task, horizon=7)\n")
    assert "horizon" in refused(capsys, "resume", PEND, "--evaluations", 32, "--task", "other.py:task")


def test_the_closing_hint_can_be_followed_again_and_again(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    loud = SMALL[:-1]
    assert ran("train", f"{project}/swim.py:task", *loud, "--evaluations", 8, "--output", "my runs") == 0
    for budget in (16, 24):
        hint = capsys.readouterr().out.splitlines()[-1]
        assert hint.startswith("the paper's budget")
        words = shlex.split(hint.partition(" resume ")[2])
        assert words == [str(Path("my runs/swim/me/seed-0")), "--evaluations", "1000000"]
        assert ran("resume", *words[:-1], budget) == 0
        assert dcrl.load("my runs/swim/me/seed-0").evaluations == budget


def test_a_run_with_huge_metrics_is_refused_before_they_are_read(project, tmp_path, capsys):
    shutil.copytree(project / PEND, tmp_path / "run")
    with open(tmp_path / "run" / "metrics.csv", "ab") as file:
        file.truncate(127 * 10**6)
    assert "it has 127,000,000 bytes, expected at most" in refused(capsys, "resume", tmp_path / "run")


@pytest.mark.parametrize("flags", [(), ("--overwrite",)])
def test_a_directory_of_another_task_is_refused_with_both_names(project, tmp_path, capsys, flags):
    (tmp_path / "swim.py").write_text(TASK.format("pend") + "# another task")
    before = (project / PEND / "archive.safetensors").read_bytes()
    said = refused(capsys, "train", f"{tmp_path}/swim.py:task", *SMALL, "--evaluations", 8, *flags)
    assert f"holds a run of the task 'pend.py:task', not of '{tmp_path}/swim.py:task'" in said
    assert (project / PEND / "archive.safetensors").read_bytes() == before


def test_the_same_task_by_another_path_is_the_same(project, capsys):
    said = refused(capsys, "train", f"{project}/pend.py:task", *SMALL, "--evaluations", 8)
    assert "already holds a run; `dcrl resume" in said
    line = ("sweep", f"{project}/pend.py:task", "--algorithms", "me", "--seeds", 0, "--evaluations", 16, "--dry-run")
    assert ran(*line, "--", *SMALL[2:-1]) == 0
    assert "complete     1" in capsys.readouterr().out


def test_a_sweep_of_two_tasks_with_one_name_is_refused(project, tmp_path, capsys):
    (tmp_path / "swim.py").write_text(TASK.format("pend") + "# another task")
    said = refused(capsys, "sweep", "pend.py:task", f"{tmp_path}/swim.py:task", "--dry-run")
    assert f"pend.py:task and {tmp_path}/swim.py:task are both named 'pend'" in said


def test_a_sweep_resumes_an_own_task_by_its_name(project, capsys):
    line = ("sweep", "pend.py:task", "--algorithms", "me", "--seeds", 0, "--evaluations", 32, "--dry-run")
    assert ran(*line, "--", *SMALL[2:-1]) == 0
    assert "resume runs/pend/me/seed-0 --evaluations 32 --task pend.py:task" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "a\\b", "a\nb", "-x", "a b", "x" * 101, None])
def test_a_name_that_no_directory_should_have_is_refused(tmp_path, capsys, name):
    (tmp_path / "own.py").write_text(TASK.format(name))
    said = refused(capsys, "train", f"{tmp_path}/own.py:task", *SMALL, "--output", tmp_path / "runs")
    assert "a task's name begins with a letter or a digit" in said
    assert not (tmp_path / "runs").exists()
