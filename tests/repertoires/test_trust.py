"""The task that a file names is Python code, and no command runs it without consent, which is remembered."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.files import write_json
from dcrl.repertoires.save import save
from dcrl.runs.config import default, to_json
from support.making import ran, refused
from support.random_runs import save_run


@pytest.fixture(autouse=True)
def no_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repertoire whose task is a file that leaves a trace when it is imported."""
    task = tmp_path / "task.py"
    task.write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n"
        "from dcrl.tasks.point import point_omni as task\n"
    )
    found = dcrl.load(save_run(tmp_path / "run", "point_omni", actor=False))
    save(tmp_path / "hostile.safetensors", dataclasses.replace(found, task=f"{task}:task"))
    (tmp_path / "study.toml").write_text(f"tasks = ['{task}:task']\n")
    write_json(tmp_path / "run" / "config.json", to_json(default(f"{task}:task", "me")))
    return tmp_path / "hostile.safetensors"


@pytest.mark.parametrize(
    "line",
    [
        "evaluate {file} --repeats 1",
        "export {file} --what repertoire --output {folder}/all.npz",
        "render {file} --output {folder}/a.png",
        "explore {file} --no-browser --port 0",
        "explore {file} --export {folder}/page.html",
        "resume {folder}/run",
        "sweep {folder}/study.toml --dry-run",
    ],
)
def test_a_command_that_needs_the_task_needs_trust(line, hostile, capsys):
    words = line.format(file=hostile, folder=hostile.parent).split()
    assert "if you trust it, add --trust-task" in refused(capsys, *words)
    assert not (hostile.parent / "ran").exists()


def test_a_study_that_names_an_algorithm_of_its_own_needs_trust(hostile, capsys):
    folder = hostile.parent
    (folder / "study.toml").write_text(f"tasks = ['point_omni']\nalgorithms = ['{folder / 'task.py'}:algorithm']\n")
    said = refused(capsys, "sweep", str(folder / "study.toml"), "--dry-run")
    assert "if you trust it, add --trust-algorithm" in said
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "line",
    [
        "show {file}",
        "regrid {file} --cells 8 --output {folder}/other.safetensors",
        "merge {file} {file} --output {folder}/other.safetensors",
        "convert {file} --output {folder}/other.csv",
    ],
)
def test_reading_a_file_runs_no_code(line, hostile):
    assert command(line.format(file=hostile, folder=hostile.parent).split()) == 0
    assert not (hostile.parent / "ran").exists()


def test_trust_is_remembered_until_the_file_changes(hostile, capsys):
    line = ("export", hostile, "--what", "repertoire", "--output", hostile.with_name("a.npz"))
    assert ran(*line, "--trust-task") == 0
    assert ran(*line, "--overwrite") == 0
    task = hostile.with_name("task.py")
    task.write_text(task.read_text() + "print('something else')\n")
    capsys.readouterr()
    assert "which has changed since you last used it" in refused(capsys, *line, "--overwrite")


@pytest.mark.parametrize(
    "line",
    [
        "evaluate {file} --repeats 1",
        "export {file} --what repertoire --output {folder}/a.npz",
        "render {file} --output {folder}/a.png --moments 1 --width 32 --height 32",
        "explore {file} --export {folder}/page.html --cells 1",
    ],
)
def test_naming_the_task_is_consent(line, hostile, capsys):
    hostile.with_name("task.py").rename(hostile.with_name("moved.py"))
    words = line.format(file=hostile, folder=hostile.parent).split()
    assert "--task FILE:OBJECT" in refused(capsys, *words)
    assert ran(*words, "--task", f"{hostile.parent}/moved.py:task") == 0


def test_a_built_in_task_is_not_replaced(hostile, capsys):
    line = ("export", hostile.parent / "run", "--what", "repertoire", "--output", hostile.with_name("a.npz"))
    assert "has the built-in task point_omni; --task is for" in refused(capsys, *line, "--task", "ant_omni")
