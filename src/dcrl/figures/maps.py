"""Maps of an archive's cells: bars, Voronoi cells or nested tiles, depending on the descriptor's dimensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from dcrl.archive.archive import Archive
from dcrl.archive.voronoi import voronoi_cells
from dcrl.figures.style import LIGHT, Theme, save
from dcrl.figures.tiles import across, tiles
from dcrl.repertoires.words import plural
from dcrl.types import Descriptor, Floats

POOLS: dict[str, Callable[[Floats], float]] = {"best": lambda v: float(v.max()), "mean": lambda v: float(v.mean())}


def archive_map(archive: Archive, space: Descriptor, task: str, path: Path, *, title: str = "") -> None:
    """Write a picture of an archive: its cells coloured by fitness, in any number of descriptor dimensions."""
    figure, axes = _figure(space)
    draw_archive(axes, archive, space, task, title=title)
    save(figure, path)


def draw_archive(axes: Axes, archive: Archive, space: Descriptor, task: str, *, title: str = "") -> None:
    """Draw an archive onto given axes, with a colour bar of fitness."""
    title = title or f"{task}: {archive.coverage:.0%} of {plural(len(archive.fitness), 'cell')} filled"
    fitness = fitness_of_cells(archive)
    _draw(axes, space, archive.centroids, fitness, span(fitness), "fitness (sum of rewards)", title)


def fitness_of_cells(archive: Archive) -> Floats:
    """(C,) the fitness of each cell's elite, NaN where a cell is empty."""
    fitness: Floats = np.where(archive.occupied, archive.fitness, np.nan)
    return fitness


def value_map(
    space: Descriptor,
    centroids: Floats,
    values: Floats,
    path: Path,
    label: str,
    title: str,
    cmap: str | Colormap = "viridis",
    *,
    norm: Normalize | None = None,
    pool: Literal["best", "mean"] = "best",
) -> None:
    """Write a picture of one map with a colour bar, which ends in an arrow if values exceed `norm`."""
    figure, axes = _figure(space)
    _draw(axes, space, centroids, values, norm or span(values), label, title, cmap, pool)
    save(figure, path)


def _figure(space: Descriptor) -> tuple[Figure, Axes]:
    return plt.subplots(figsize=(6.2, 5.2) if space.size > 2 else (5.2, 4.2), layout="constrained")


def _draw(
    axes: Axes,
    space: Descriptor,
    centroids: Floats,
    values: Floats,
    norm: Normalize,
    label: str,
    title: str,
    cmap: str | Colormap = "viridis",
    pool: Literal["best", "mean"] = "best",
) -> None:
    drawn = draw_map(axes, space, centroids, values, norm, cmap, label=label, pool=pool)
    top = np.inf if norm.vmax is None else norm.vmax
    beyond = bool((np.nan_to_num(values, nan=-np.inf) > top).any())
    plt.colorbar(drawn, ax=axes, extend="max" if beyond else "neither").set_label(label)
    axes.set_title(title, fontsize=10)


def span(*values: Floats) -> Normalize:
    """The colour scale from the smallest to the largest finite value."""
    found = np.concatenate([np.asarray(each, np.float64).ravel() for each in values])
    found = found[np.isfinite(found)]
    return Normalize(float(found.min()), float(found.max())) if len(found) else Normalize(0, 1)


def draw_map(
    axes: Axes,
    space: Descriptor,
    centroids: Floats,
    values: Floats,
    norm: Normalize,
    cmap: str | Colormap = "viridis",
    *,
    label: str = "",
    pool: Literal["best", "mean"] = "best",
    theme: Theme = LIGHT,
) -> ScalarMappable:
    """Draw `values` (C,), NaN where a cell has none, onto `axes`; returns the mappable for a colour bar.

    One descriptor dimension gives bars with the values as heights, labelled `label`; two give Voronoi cells; more give
    tiles along the first two dimensions, each a small grid along the next two (dcrl.figures.tiles), where `pool`
    says how several cells are combined. Further dimensions are pooled over.
    """
    colours = plt.get_cmap(cmap).with_extremes(bad=theme.empty)
    values = np.ma.masked_invalid(np.asarray(values, np.float64))
    axes.set_xlim(space.low[0], space.high[0])
    axes.set_xlabel(f"{space.names[0]} ({space.unit})")
    if space.size == 1:
        order = np.argsort(centroids[:, 0])
        middle = centroids[order, 0]
        edges = np.concatenate([[space.low[0]], (middle[1:] + middle[:-1]) / 2, [space.high[0]]])
        axes.bar(edges[:-1], values[order].filled(0), np.diff(edges), align="edge", color=colours(norm(values[order])))
        axes.set_ylabel(label)
        return ScalarMappable(norm, colours)
    axes.set_ylim(space.low[1], space.high[1])
    axes.set_ylabel(f"{space.names[1]} ({space.unit})")
    axes.set_aspect((space.high[0] - space.low[0]) / (space.high[1] - space.low[1]))
    axes.set_facecolor(theme.background)
    polygons, edge = voronoi_cells(centroids, space.low, space.high) if space.size == 2 else [], 0.15
    if space.size > 2:
        polygons, values = tiles(space, centroids, values, POOLS[pool])
        edge = 0.3
        for axis, side in enumerate((axes.xaxis, axes.yaxis)):
            side.set_ticks(np.linspace(space.low[axis], space.high[axis], across(space.size, len(centroids)) + 1))
            side.set_major_formatter("{x:.3g}")
            side.set_label_text(_nested_label(space, axis))
    cells = PolyCollection(polygons, array=values, norm=norm, cmap=colours, edgecolors=theme.edge, linewidths=edge)
    axes.add_collection(cells)
    return cells


def _nested_label(space: Descriptor, axis: int) -> str:
    """The label of an axis: which dimension the tiles are along, and which the small cells in each tile."""
    outer, inner = f"tiles: {space.names[axis]} ({space.unit})", axis + 2
    if inner >= space.size:
        return outer
    bounds = f"{space.low[inner]:g} to {space.high[inner]:g}"
    return f"{outer}\nwithin each tile: {space.names[inner]}, {bounds}"
