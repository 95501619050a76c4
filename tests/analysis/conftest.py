"""Reports without their cost: figures are built, but not rendered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest


@pytest.fixture
def unrendered(monkeypatch) -> None:
    """Every figure is a small grey PNG, and a PDF without content where one is asked for."""

    def save(figure: Any, path: Path, *, pdf: bool = False, dpi: int = 0) -> None:
        matplotlib.image.imsave(path, np.full((4, 400, 3), 0.5))
        if pdf:
            path.with_suffix(".pdf").write_bytes(b"%PDF-")
        plt.close(figure)

    monkeypatch.setattr("dcrl.analysis.grids.save", save)
