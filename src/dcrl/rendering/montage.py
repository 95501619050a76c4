"""The map of an archive, and next to it a picture for each of its regions."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from dcrl.figures.maps import draw_archive
from dcrl.figures.style import save
from dcrl.repertoires.repertoire import Repertoire

EMPTY_COLOUR = "0.93"
MARK_COLOUR = "#D55E00"


def montage(
    repertoire: Repertoire,
    regions: int,
    cells: dict[tuple[int, int], int],
    pictures: dict[tuple[int, int], NDArray[np.uint8]],
    path: Path,
) -> None:
    """Draw `pictures` of the elites in `cells`, both by region, in the layout of the map."""
    figure = plt.figure(figsize=(12.4, 5.6), layout="constrained")
    halves = np.atleast_1d(np.asarray(figure.subfigures(1, 2, width_ratios=(1.12, 1))))
    left, right = halves.tolist()
    axes = left.subplots()
    draw_archive(axes, repertoire.archive, repertoire.space, repertoire.task)
    space = repertoire.space
    for axis, line in ((0, axes.axvline), (1, axes.axhline)):
        for edge in np.linspace(space.low[axis], space.high[axis], regions + 1)[1:-1]:
            line(float(edge), color="white", linewidth=0.8, alpha=0.8)
    spots = repertoire.descriptor[list(cells.values())]
    axes.scatter(spots[:, 0], spots[:, 1], s=26, color=MARK_COLOUR, edgecolors="white", linewidths=0.9, zorder=3)
    found = repertoire.fitness[repertoire.occupied]
    scale = Normalize(float(found.min()), float(found.max()))
    grid = right.subplots(regions, regions, squeeze=False, gridspec_kw={"wspace": 0.02, "hspace": 0.02})
    for row in range(regions):
        for column in range(regions):
            panel = grid[regions - 1 - row, column]  # the second dimension grows upwards, as on the map
            panel.set_xticks([])
            panel.set_yticks([])
            panel.set_facecolor(EMPTY_COLOUR)
            panel.set_box_aspect(1)
            if (column, row) not in cells:
                panel.spines[:].set_visible(False)
                continue
            panel.imshow(pictures[column, row], interpolation="antialiased")
            fitness = float(repertoire.fitness[cells[column, row]])
            panel.spines[:].set(color=plt.get_cmap("viridis")(scale(fitness)), linewidth=2.5)
            panel.text(
                0.04, 0.04, f"{fitness:,.0f}", transform=panel.transAxes, color="white", fontsize=8, fontweight="bold"
            )
    right.suptitle("the fittest elite of each region, and its fitness", fontsize=10)
    right.supxlabel(f"{space.names[0]} ({space.unit})", fontsize=10)
    right.supylabel(f"{space.names[1]} ({space.unit})", fontsize=10)
    save(figure, path)
