"""An archive as a picture: one Voronoi cell an elite, coloured by fitness."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize

from dcrl.analysis.figures import save
from dcrl.archive.voronoi import voronoi_cells
from dcrl.runs.repertoire import Repertoire


def archive_map(repertoire: Repertoire, path: Path, title: str = "") -> None:
    """Draw an archive of one or two descriptor dimensions; of more, its first two with the best elite in front."""
    figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
    space, fitness = repertoire.space, repertoire.fitness
    found = fitness[repertoire.occupied]
    scale = Normalize(float(found.min()), float(found.max())) if len(found) else Normalize(0, 1)
    colours = plt.get_cmap("viridis")
    axes.set_xlim(space.low[0], space.high[0])
    axes.set_xlabel(f"{space.names[0]} ({space.unit})")
    if space.size == 1:
        order = np.argsort(repertoire.centroids[:, 0])
        middle = repertoire.centroids[order, 0]
        edges = np.concatenate([[space.low[0]], (middle[1:] + middle[:-1]) / 2, [space.high[0]]])
        values = np.nan_to_num(fitness[order])
        axes.bar(edges[:-1], values, np.diff(edges), align="edge", color=colours(scale(values)))
        axes.set_ylabel("fitness")
    else:
        axes.set_ylim(space.low[1], space.high[1])
        axes.set_ylabel(f"{space.names[1]} ({space.unit})")
        axes.set_facecolor("0.93")
        if space.size == 2:
            cells = voronoi_cells(repertoire.centroids, space.low, space.high)
            faces = [
                colours(scale(f)) if o else (1, 1, 1, 1) for f, o in zip(fitness, repertoire.occupied, strict=True)
            ]
            axes.add_collection(PolyCollection(cells, facecolors=faces, edgecolors="0.8", linewidths=0.15))
        else:
            order = np.argsort(np.where(repertoire.occupied, fitness, -np.inf))
            order = order[repertoire.occupied[order]]
            spots = repertoire.descriptor[order]
            axes.scatter(spots[:, 0], spots[:, 1], c=fitness[order], norm=scale, cmap=colours, s=14, clip_on=False)
        axes.set_aspect((space.high[0] - space.low[0]) / (space.high[1] - space.low[1]))
    bar = figure.colorbar(plt.cm.ScalarMappable(scale, colours), ax=axes)
    bar.set_label("fitness (sum of rewards)")
    coverage = repertoire.occupied.mean()
    shown = f" (2 of {space.size} dimensions shown)" if space.size > 2 else ""
    axes.set_title(title or f"{repertoire.task}: {coverage:.0%} of {len(fitness)} cells filled{shown}", fontsize=10)
    save(figure, path)
