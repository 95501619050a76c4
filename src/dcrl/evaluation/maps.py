"""Maps of reproducibility: spread of fitness, distance to the centroid, and the archive before and after correction."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.layout_engine import ConstrainedLayoutEngine

from dcrl.archive.archive import Archive
from dcrl.evaluation.reproducibility import Measured, Reproducibility, Totals
from dcrl.figures.maps import draw_map, fitness_of_cells, span, value_map
from dcrl.figures.style import save
from dcrl.repertoires.words import plural
from dcrl.types import Floats


def draw(directory: Path, found: Reproducibility, task: str) -> None:
    """`fitness_spread.png`, `descriptor_error.png` and `corrected.png`, and the actor's with `actor_` before."""
    _maps(directory, "", found, task, found.elites, found.elites_totals)
    _corrected_map(directory / "corrected.png", found, task, found.elites, found.elites_totals, found.corrected)
    if found.actor is not None and found.actor_totals is not None and found.actor_corrected is not None:
        _maps(directory, "actor_", found, f"{task}, actor", found.actor, found.actor_totals)
        _corrected_map(
            *(directory / "actor_corrected.png", found, f"{task}, actor"),
            *(found.actor, found.actor_totals, found.actor_corrected),
        )


def _maps(directory: Path, prefix: str, found: Reproducibility, name: str, policies: Measured, totals: Totals) -> None:
    space, repeats = found.repeats.space, plural(totals.repeats, "repeat")
    maps = [
        (
            *("descriptor_error", policies.distance_to_centroid, f"{name}: descriptor error over {repeats}"),
            f"mean distance to the cell's centroid ({space.unit})",
        )
    ]
    if totals.repeats > 1:
        spread = "standard deviation of fitness"
        maps.append(("fitness_spread", policies.fitness_deviation, f"{name}: spread of fitness over {repeats}", spread))
    for file, of_policies, title, label in maps:
        values = _of_cells(found, of_policies)
        path = directory / f"{prefix}{file}.png"
        value_map(
            space, found.repeats.centroids, values, path, label, title, "cividis", norm=_typical(values), pool="mean"
        )


def _typical(values: Floats) -> Normalize:
    """Colours from 0 to the 98th percentile: a few outliers would darken all others."""
    known = values[np.isfinite(values)]
    top = float(np.quantile(known, 0.98)) if len(known) else 0.0
    return Normalize(0.0, top if top > 0 else 1.0)


def _corrected_map(
    path: Path, found: Reproducibility, name: str, policies: Measured, totals: Totals, corrected: Archive
) -> None:
    """The stored, the expected and the corrected fitness, on one colour scale."""
    stored, mean, moved = (
        fitness_of_cells(found.stored),
        _of_cells(found, policies.fitness_mean),
        fitness_of_cells(corrected),
    )
    scale = span(stored, mean, moved)
    size = {1: (12.0, 3.4), 2: (12.0, 4.3)}.get(found.repeats.space.size, (16.0, 5.6))
    apart = ConstrainedLayoutEngine(wspace=0.04)
    figure, axes = plt.subplots(1, 3, figsize=size, layout=apart, sharey=True)
    panels = (
        (stored, "stored", f"QD score {found.stored.qd_score:,.0f}, coverage {found.stored.coverage:.1%}"),
        (mean, f"mean of {plural(totals.repeats, 'repeat')}", f"expected QD score {totals.expected_qd_score:,.0f}"),
        (moved, "corrected", f"QD score {corrected.qd_score:,.0f}, coverage {corrected.coverage:.1%}"),
    )
    for axis, (values, what, numbers) in zip(axes, panels, strict=True):
        drawn = draw_map(axis, found.repeats.space, found.repeats.centroids, values, scale, label="fitness")
        axis.set_title(f"{name}: {what}\n{numbers}", fontsize=10)
        axis.label_outer()
    figure.colorbar(drawn, ax=axes, label="fitness (sum of rewards)", pad=0.01, aspect=30)
    save(figure, path)


def _of_cells(found: Reproducibility, values: Floats) -> Floats:
    """(C,) from one value per occupied cell; NaN elsewhere."""
    every = np.full(len(found.repeats.centroids), np.nan)
    every[found.repeats.cells] = values
    return every
