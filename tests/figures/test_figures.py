"""Figures: Voronoi cells that tile the space, and pictures of archives and metrics of every shape."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import Normalize
from matplotlib.path import Path as Outline

from dcrl.archive.archive import Archive
from dcrl.archive.cells import cell_of
from dcrl.archive.voronoi import voronoi_cells
from dcrl.figures.curves import improvement_curves, metric_curves
from dcrl.figures.maps import archive_map, draw_map, span, value_map
from dcrl.types import Descriptor

NAMES = ("left foot", "right foot", "front foot", "hind foot")


def area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


@pytest.mark.parametrize("cells", [1, 2, 3, 64, 1024])
@pytest.mark.parametrize(("low", "high"), [((0.0, 0.0), (1.0, 1.0)), ((-30.0, 0.0), (30.0, 0.01))])
def test_voronoi_cells_tile_the_space(cells, low, high):
    random = np.random.default_rng(cells)
    centroids = random.uniform(low, high, (cells, 2)).astype(np.float32)
    polygons = voronoi_cells(centroids, low, high)
    assert len(polygons) == cells
    whole = (high[0] - low[0]) * (high[1] - low[1])
    assert sum(map(area, polygons)) == pytest.approx(whole, rel=1e-5)
    for i, polygon in enumerate(polygons):
        assert np.isfinite(polygon).all()
        assert ((polygon >= low) & (polygon <= high)).all()
        # a little inside of each corner is nearest to the cell's own centroid, and the centroid is within
        inside = (0.999 * polygon + 0.001 * centroids[i]).astype(np.float64)
        assert (cell_of(centroids.astype(np.float64), inside) == i).mean() > 0.6
        assert Outline(polygon).contains_point(centroids[i], radius=1e-9) or area(polygon) < 1e-6 * whole


def space_of(dimensions: int) -> Descriptor:
    return Descriptor(
        names=NAMES[:dimensions],
        unit="contact rate",
        low=(0.0,) * dimensions,
        high=(1.0,) * dimensions,
        over="mean",
    )


def archive_of(dimensions: int, occupied: np.ndarray, fitness: np.ndarray) -> Archive:
    cells = len(occupied)
    centroids = np.random.default_rng(0).uniform(size=(cells, dimensions)).astype(np.float32)
    return Archive(
        centroids=centroids,
        fitness=np.where(occupied, fitness, -np.inf).astype(np.float32),
        descriptor=np.where(occupied[:, None], centroids, np.nan).astype(np.float32),
        genotype=np.zeros((cells, 3), np.float32),
    )


def draw(path: Path, dimensions: int, occupied: np.ndarray, fitness: np.ndarray) -> np.ndarray:
    archive_map(archive_of(dimensions, occupied, fitness), space_of(dimensions), "point_omni", path)
    return picture(path)


def picture(path: Path) -> np.ndarray:
    """Its pixels (height, width, 3), which must be a readable PNG with something on it."""
    assert path.read_bytes().startswith(b"\x89PNG")
    pixels = plt.imread(path)[..., :3]
    assert pixels.shape[0] > 300
    assert pixels.shape[1] > 600
    colours = (255 * pixels).round().astype(int) @ (1 << 16, 1 << 8, 1)
    assert len(np.unique(colours)) > 20
    return pixels


@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_archives_of_any_dimension_are_drawn(dimensions, tmp_path):
    random = np.random.default_rng(1)
    occupied = random.random(80) < 0.6
    full = draw(tmp_path / "full.png", dimensions, occupied, random.uniform(0, 100, 80))
    empty = draw(tmp_path / "empty.png", dimensions, np.zeros(80, bool), np.zeros(80))
    difference = (full != empty).any(axis=-1).mean()
    assert difference > (0.02 if dimensions == 4 else 0.1)  # the elites are to be seen


@pytest.mark.parametrize("dimensions", [1, 2, 4])
@pytest.mark.parametrize("fitness", [[5.0] * 9, [-3.0, -1.0] * 4 + [-2.0]], ids=["all equal", "negative"])
def test_unusual_fitness_is_drawn(dimensions, fitness, tmp_path):
    draw(tmp_path / "map.png", dimensions, np.ones(9, bool), np.array(fitness))


def test_four_dimensions_are_tiles_of_small_grids_with_all_four_named():
    """16 cells at the middles of 2 x 2 x 2 x 2 bins: each value is found where its four coordinates say."""
    space = space_of(4)
    middles = np.stack(np.meshgrid(*[[0.25, 0.75]] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    values = np.arange(16.0)
    values[5] = np.nan
    figure, axes = plt.subplots()
    drawn = draw_map(axes, space, middles, values, span(values))
    assert axes.get_xlabel() == "tiles: left foot (contact rate)\nwithin each tile: front foot, 0 to 1"
    assert axes.get_ylabel() == "tiles: right foot (contact rate)\nwithin each tile: hind foot, 0 to 1"
    assert axes.get_xticks().tolist() == [0, 0.5, 1]
    centres = [outline.vertices[:4].mean(axis=0) for outline in drawn.get_paths()]
    assert len(centres) == 16
    for centre, value in zip(centres, drawn.get_array(), strict=True):
        tile = (centre >= 0.5).astype(int)
        within = (centre - 0.5 * tile >= 0.25).astype(int)
        expected = values[np.dot([*tile, *within], [8, 4, 2, 1])]
        assert np.ma.is_masked(value) if np.isnan(expected) else value == expected
    plt.close(figure)


@pytest.mark.parametrize(("pool", "expected"), [("best", 8.0), ("mean", 5.0)])
def test_cells_that_share_a_small_cell_are_pooled_and_one_without_a_cell_shows_the_nearest(pool, expected):
    space = space_of(4)
    figure, axes = plt.subplots()
    centroids = np.array([(0.1, 0.1, 0.1, 0.1), (0.2, 0.2, 0.2, 0.2), (0.9, 0.9, 0.9, 0.9), (0.3, 0.1, 0.2, 0.1)])
    values = np.array([2.0, 8.0, 4.0, np.nan])
    drawn = draw_map(axes, space, centroids, values, span(values), pool=pool)
    shown = drawn.get_array()
    assert shown[0] == expected
    assert shown[-1] == shown[-2] == 4
    plt.close(figure)


@pytest.mark.parametrize("dimensions", [3, 5])
def test_three_and_five_dimensions_are_drawn_too(dimensions):
    space = Descriptor(
        names=tuple("abcde"[:dimensions]), unit="m", low=(0.0,) * dimensions, high=(2.0,) * dimensions, over="last"
    )
    random = np.random.default_rng(0)
    figure, axes = plt.subplots()
    drawn = draw_map(axes, space, random.uniform(0, 2, (300, dimensions)), random.random(300), span(np.arange(2)))
    assert "within each tile: c, 0 to 2" in axes.get_xlabel()
    assert ("within" in axes.get_ylabel()) == (dimensions > 3)
    corners = np.concatenate([outline.vertices for outline in drawn.get_paths()])
    assert ((corners >= 0) & (corners <= 2)).all()
    plt.close(figure)


def test_values_beyond_the_scale_are_drawn_with_an_arrow(tmp_path):
    space, centroids = space_of(2), np.random.default_rng(0).random((9, 2))
    for top, name in ((8.0, "all.png"), (3.0, "beyond.png")):
        value_map(space, centroids, np.arange(9.0), tmp_path / name, "spread", "a title", norm=Normalize(0, top))
    assert (picture(tmp_path / "all.png") != picture(tmp_path / "beyond.png")).any()


def test_a_single_elite_is_drawn(tmp_path):
    draw(tmp_path / "map.png", 2, np.arange(9) == 4, np.full(9, 7.0))


def metrics(rows: int, sign: float = 1.0) -> dict[str, np.ndarray]:
    growing = np.arange(1.0, rows + 1)
    return {
        "evaluations": 256 * growing,
        "qd_score": sign * 1e5 * growing,
        "coverage": growing / (rows + 1),
        "max_fitness": sign * growing,
        "improvement_ga": sign * growing,
        "added_ga": growing,
        "improvement_pg": 2 * sign * growing,
        "added_pg": growing,
    }


@pytest.mark.parametrize("curves", [metric_curves, improvement_curves])
def test_curves_are_drawn_and_seen(curves, tmp_path):
    curves(metrics(30), tmp_path / "up.png")
    curves(metrics(30, -1.0), tmp_path / "down.png")
    curves(metrics(1), tmp_path / "one.png")
    up, down = picture(tmp_path / "up.png"), picture(tmp_path / "down.png")
    picture(tmp_path / "one.png")
    blue = np.array([0, 0x72, 0xB2]) / 255
    for pixels in (up, down):  # values below 0 are no more hidden than others
        assert (np.abs(pixels - blue).max(axis=-1) < 0.02).sum() > 300


def test_an_archive_that_never_got_an_elite_has_curves_too(tmp_path):
    nothing = metrics(2) | {"max_fitness": np.full(2, np.nan), "qd_score": np.zeros(2), "coverage": np.zeros(2)}
    metric_curves(nothing, tmp_path / "curves.png")
    picture(tmp_path / "curves.png")
