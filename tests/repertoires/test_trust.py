"""A file from elsewhere names a task; that runs no code unless somebody vouches for it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.repertoires.save import save
from support.random_runs import save_run


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
    return tmp_path / "hostile.safetensors"


@pytest.mark.parametrize(
    "line",
    [
        "evaluate {file} --repeats 1",
        "export {file} --what repertoire --output {folder}/all.npz",
        "explore {file} --no-browser --port 0",
        "render {file} --output {folder}/a.png",
        "explore {file} --export {folder}/page.html",
    ],
)
def test_playing_a_file_needs_trust_in_its_task(line, hostile, capsys):
    words = line.format(file=hostile, folder=hostile.parent).split()
    assert command(words) == 2
    assert "--trust-task" in capsys.readouterr().err
    assert not (hostile.parent / "ran").exists()


@pytest.mark.parametrize("line", ["show {file}", "regrid {file} --cells 8 --output {folder}/other.safetensors"])
def test_looking_at_a_file_runs_no_code(line, hostile):
    assert command(line.format(file=hostile, folder=hostile.parent).split()) == 0
    assert not (hostile.parent / "ran").exists()


@pytest.mark.parametrize(
    "line", ["evaluate {file} --repeats 1", "export {file} --what repertoire --output {folder}/a.npz"]
)
def test_with_trust_it_is_played(line, hostile):
    assert command([*line.format(file=hostile, folder=hostile.parent).split(), "--trust-task"]) == 0
    assert (hostile.parent / "ran").exists()
