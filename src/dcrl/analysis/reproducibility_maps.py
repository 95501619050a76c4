"""Maps of luck: where fitness varies, where elites miss their cells, and the archive before and after correction."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from dcrl.analysis.figures import save
from dcrl.analysis.maps import draw_map, span, value_map
from dcrl.analysis.reproducibility import Measured, Reproducibility, Totals
from dcrl.archive.archive import Archive
from dcrl.types import Floats


def draw(directory: Path, found: Reproducibility, task: str) -> None:
    """`fitness_spread.png`, `descriptor_error.png` and `corrected.png`, and the actor's with `actor_` before."""
    _maps(directory, "", found, task, found.elites, found.elites_totals)
    _before_and_after(directory / "corrected.png", found, task, found.elites, found.elites_totals, found.corrected)
    if found.actor is not None and found.actor_totals is not None and found.actor_corrected is not None:
        _maps(directory, "actor_", found, f"{task}, actor", found.actor, found.actor_totals)
        _before_and_after(
            *(directory / "actor_corrected.png", found, f"{task}, actor"),
            *(found.actor, found.actor_totals, found.actor_corrected),
        )
    else:
        for path in directory.glob("actor_*.png"):
            path.unlink()


def _maps(directory: Path, prefix: str, found: Reproducibility, name: str, policies: Measured, totals: Totals) -> None:
    space, centroids, repeats = found.repeats.space, found.repeats.centroids, totals.repeats
    if repeats > 1:
        value_map(
            space,
            centroids,
            _of_cells(found, policies.fitness_deviation),
            directory / f"{prefix}fitness_spread.png",
            "standard deviation of fitness",
            f"{name}: spread of fitness over {repeats:,} repeats",
            "cividis",
            pool="mean",
        )
    value_map(
        space,
        centroids,
        _of_cells(found, policies.distance_to_centroid),
        directory / f"{prefix}descriptor_error.png",
        f"mean distance to the cell's centroid ({space.unit})",
        f"{name}: descriptor error over {repeats:,} repeats",
        "cividis",
        pool="mean",
    )


def _before_and_after(
    path: Path, found: Reproducibility, name: str, policies: Measured, totals: Totals, corrected: Archive
) -> None:
    """The stored, the expected and the corrected fitness, in one scale of colours."""
    stored, mean = _fitness(found.stored), _of_cells(found, policies.fitness_mean)
    moved = _fitness(corrected)
    scale = span(stored, mean, moved)
    nested = found.repeats.space.size > 2
    figure, axes = plt.subplots(1, 3, figsize=(15, 5) if nested else (11.5, 3.9), layout="constrained", sharey=True)
    panels = (
        (stored, f"stored: QD score {found.stored.qd_score:,.0f}, coverage {found.stored.coverage:.0%}"),
        (mean, f"mean of {totals.repeats:,}: QD score {totals.expected_qd_score:,.0f}"),
        (moved, f"corrected: QD score {corrected.qd_score:,.0f}, coverage {corrected.coverage:.0%}"),
    )
    for axis, (values, title) in zip(axes, panels, strict=True):
        drawn = draw_map(axis, found.repeats.space, found.repeats.centroids, values, scale, label="fitness")
        axis.set_title(title, fontsize=10)
        axis.label_outer()
    figure.colorbar(drawn, ax=axes, label="fitness (sum of rewards)", pad=0.01)
    figure.suptitle(name, fontsize=11)
    save(figure, path)


def _of_cells(found: Reproducibility, values: Floats) -> Floats:
    """(C,) from one value an occupied cell; NaN elsewhere."""
    every = np.full(len(found.repeats.centroids), np.nan)
    every[found.repeats.cells] = values
    return every


def _fitness(archive: Archive) -> Floats:
    return np.where(archive.occupied, archive.fitness, np.nan)
