"""What all figures share."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dcrl.files import write_bytes

# Okabe and Ito's colours, told apart by everyone; their yellow, too pale for lines on white, is a grey here
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)), (0, (8, 2)))
# The paper's names, in the order of its figures
LABELS = {
    "dcrl_me": "DCRL",
    "dcg_me": "DCG",
    "pga_me": "PGA",
    "qd_pg": "QD-PG",
    "me": "ME",
    "me_es": "ME-ES",
    "ablation_ai": "Ablation AI",
    "ablation_actor": "Ablation Actor",
}
TEXT_WIDTH = 7.0  # inches, of a page with margins
# Type of a size to be read in print, and text that stays text in a PDF
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "pdf.fonttype": 42,
}


def rank(series: str) -> tuple[int, str]:
    """Sorts series as the paper does; variants come after their algorithm, strangers last."""
    algorithm = series.partition(" ")[0]
    return (list(LABELS).index(algorithm) if algorithm in LABELS else len(LABELS), series)


def label(series: str) -> str:
    """How a figure names an algorithm, or a variant `algorithm (field=value)`."""
    algorithm, _, variant = series.partition(" ")
    return " ".join(filter(None, (LABELS.get(algorithm, algorithm), variant)))


def save(figure: Figure, path: Path, *, pdf: bool = False) -> None:
    """Write a PNG, and a PDF beside it if asked for, whole or not at all."""
    for kind in ("png", "pdf") if pdf else ("png",):
        content = io.BytesIO()
        about = {"CreationDate": None} if kind == "pdf" else None  # the same figure gives the same file
        figure.savefig(content, format=kind, dpi=200 if pdf else 160, metadata=about)
        write_bytes(path.with_suffix(f".{kind}"), content.getvalue())
    plt.close(figure)
