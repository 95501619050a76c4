"""The style that all figures share: colours, labels, light and dark themes, saving."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.figures.series import algorithm_and_rest
from dcrl.files import write_bytes

# Okabe and Ito's colour-blind-safe palette, and a brown; their yellow, too pale for lines on white, is a grey here
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A", "#7F4F24")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)), (0, (8, 2)), (0, (6, 2, 1, 2)))
LABELS = {name: known.label for name, known in CATALOGUE.items()}  # in the order of the paper's figures
TEXT_WIDTH = 7.0  # inches, of a page with margins
# Type of a size to be read in print, and text that stays text in a PDF
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "pdf.fonttype": 42,
}


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The colours of a figure that are not data."""

    suffix: str  # of the file's name
    ink: str
    paper: str
    empty: str  # a cell without a value
    background: str  # where there is no cell
    edge: str  # between cells

    @property
    def rc(self) -> dict[Any, Any]:
        """Matplotlib's settings in these colours."""
        ink = dict.fromkeys(
            ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "boxplot.boxprops.color"),
            self.ink,
        )
        ink |= {f"boxplot.{part}props.color": self.ink for part in ("whisker", "cap")}
        return ink | {"figure.facecolor": self.paper, "axes.facecolor": self.paper, "savefig.facecolor": self.paper}

    def visible(self, colour: str) -> str:
        """A data colour, or the ink where it is black."""
        return self.ink if colour == "#000000" else colour


LIGHT = Theme(suffix="", ink="#000000", paper="#ffffff", empty="1.0", background="0.93", edge="0.8")
DARK = Theme(suffix="-dark", ink="#e4e4e4", paper="#16181b", empty="#2a2d32", background="#1f2226", edge="#4a4e55")


def rank(series: str) -> tuple[int, str]:
    """A sort key: the paper's order; variants come after their algorithm, other algorithms last."""
    algorithm, _ = algorithm_and_rest(series)
    return (list(LABELS).index(algorithm) if algorithm in LABELS else len(LABELS), series)


def label(series: str) -> str:
    """How a figure names an algorithm, or a variant `algorithm (field=value)`."""
    algorithm, rest = algorithm_and_rest(series)
    return " ".join(filter(None, (LABELS.get(algorithm, algorithm), rest)))


def save(figure: Figure, path: Path, *, pdf: bool = False, dpi: int = 160) -> None:
    """Write a PNG, and with `pdf` a PDF next to it, atomically."""
    for kind in ("png", "pdf") if pdf else ("png",):
        content = io.BytesIO()
        about = {"CreationDate": None} if kind == "pdf" else None  # the same figure gives the same file
        with warnings.catch_warnings():  # of names that are too long, or in letters that the font lacks
            warnings.filterwarnings("ignore", "constrained_layout not applied|Glyph .* missing from", UserWarning)
            figure.savefig(content, format=kind, dpi=dpi, metadata=about)
        figure.set_layout_engine("none")  # once is enough
        write_bytes(path.with_suffix(f".{kind}"), content.getvalue())
    plt.close(figure)
