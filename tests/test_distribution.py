"""The wheel: it has every file of the package, and its metadata is what the package index shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import dcrl

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built from a copy, so that nothing is written to the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    arguments = ("--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(folder))
    subprocess.run([sys.executable, "-m", "build", *arguments], check=True, capture_output=True, timeout=300)
    [file] = (folder / "dist").iterdir()
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def test_the_wheel_has_every_file_of_the_package(wheel):
    sources = (path for path in (ROOT / "src").rglob("*") if path.is_file())
    expected = {str(path.relative_to(ROOT / "src")) for path in sources if not _generated(path)}
    assert {
        "dcrl/py.typed",
        "dcrl/analysis/report.css",
        "dcrl/sweeps/studies/paper.toml",
        "dcrl_command.py",
    } <= expected
    assert expected - set(wheel.namelist()) == set()


def _generated(path: Path) -> bool:
    return any(part == "__pycache__" or part.endswith(".egg-info") for part in path.parts)


def test_the_metadata_says_what_it_is(metadata):
    assert metadata["Version"] == dcrl.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# dcrl")
    assert "Programming Language :: Python :: 3.11" in metadata.get_all("Classifier")


def test_every_extra_is_explained_in_the_documentation(metadata):
    page = (ROOT / "docs" / "get-started.md").read_text(encoding="utf-8")
    extras = set(metadata.get_all("Provides-Extra")) - {"dev", "docs"}
    assert [extra for extra in sorted(extras) if f"| `{extra}` |" not in page] == []


def test_the_citation_and_the_changelog_have_the_version():
    assert f"\nversion: {dcrl.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?([\d.]+|Unreleased)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] in (dcrl.__version__, "Unreleased")
