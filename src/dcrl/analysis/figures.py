"""What all figures share."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dcrl.runs.files import write_bytes

# Okabe and Ito's colours: told apart by everyone
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")


def save(figure: Figure, path: Path) -> None:
    """Write a PNG, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=160)
    plt.close(figure)
    write_bytes(path, content.getvalue())
