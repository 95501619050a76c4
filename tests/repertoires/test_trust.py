"""The task that a file names is Python code, and no command runs it without --trust-task."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.repertoires.save import save
from support.making import refused
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
        "render {file} --output {folder}/a.png",
        "explore {file} --no-browser --port 0",
        "explore {file} --export {folder}/page.html",
    ],
)
def test_a_command_that_needs_the_task_needs_trust(line, hostile, capsys):
    words = line.format(file=hostile, folder=hostile.parent).split()
    assert "if you trust it, add --trust-task" in refused(capsys, *words)
    assert not (hostile.parent / "ran").exists()


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


@pytest.mark.parametrize(
    "line",
    [
        "evaluate {file} --repeats 1",
        "export {file} --what repertoire --output {folder}/a.npz",
        "render {file} --output {folder}/a.png --moments 1 --width 32 --height 32",
        "explore {file} --export {folder}/page.html --cells 1",
    ],
)
def test_with_trust_the_task_is_used(line, hostile):
    assert command([*line.format(file=hostile, folder=hostile.parent).split(), "--trust-task"]) == 0
    assert (hostile.parent / "ran").exists()
