"""The notebooks of the documentation: each runs from a clean kernel, and is committed with small outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def said(notebook: nbformat.NotebookNode) -> list[bool]:
    """Whether each code cell has an output."""
    return [bool(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_with_small_outputs_and_without_errors(path):
    notebook = read(path)
    assert path.stat().st_size < 300_000
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert {output.output_type for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(place in path.read_text() for place in ("/home/", "/root/", "/work/"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_a_clean_kernel(path, tmp_path, monkeypatch):
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))
    committed, notebook = read(path), read(path)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    place = tmp_path / "work"
    place.mkdir()
    NotebookClient(
        notebook, timeout=1200, kernel_name="python3", resources={"metadata": {"path": str(place)}}
    ).execute()
    assert said(notebook) == said(committed)


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["explore_repertoire", "own_algorithm"]
