"""A small repertoire file, to be changed and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.repertoires.save import save
from fuzz import small


@pytest.fixture
def file(tmp_path) -> Path:
    save(tmp_path / "archive.safetensors", small())
    return tmp_path / "archive.safetensors"
