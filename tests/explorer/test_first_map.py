"""The map that is there before the page around it has loaded, and the cells that the browser computes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dcrl
from dcrl.archive.voronoi import voronoi_cells
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats
from support.browsing import HIDDEN, HOSTILE, assert_shows, click_at

pytest.importorskip("nicegui", reason="the explorer is an optional extra")

TILES = """async ([centroids, low, high]) => {
  const { tiles } = await import("dcrl-explorer/tiles.js");
  return tiles(centroids, low, high).map((corners) => corners.map(({ x, y }) => [x, y]));
}"""


def tiles(page: Any, centroids: Floats, low: tuple[float, ...], high: tuple[float, ...]) -> list[Floats]:
    return [np.array(corners) for corners in page.evaluate(TILES, [centroids.tolist(), low, high])]


def assert_like_scipy(page: Any, cells: int, low: tuple[float, ...], high: tuple[float, ...]) -> None:
    span = np.subtract(high, low)
    centroids = low + span * np.random.default_rng(cells).random((cells, 2)) ** 3  # crowded in a corner
    computed = tiles(page, centroids, low, high)
    assert len(computed) == cells
    for here, there in zip(computed, voronoi_cells(centroids, low, high), strict=True):
        distance = cdist(here / span, there / span)
        # every corner of one is a corner of the other, which qhull may merge with a near one
        assert distance.min(axis=0).max() < 1e-5
        assert distance.min(axis=1).max() < 1e-5


def test_cells_are_what_is_nearest(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    for cells in (1, 2, 7, 300):
        assert_like_scipy(page, cells, (0.0, 0.0), (1.0, 1.0))
        assert_like_scipy(page, cells, (1000.0, -3.0), (1001.0, 50.0))
    middles = (np.arange(5) + 0.5) / 5  # a grid, of whose cells four meet in a corner
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    for centre, corners in zip(grid, tiles(page, grid, (0.0, 0.0), (1.0, 1.0)), strict=True):
        np.testing.assert_allclose(corners.min(axis=0), centre - 0.1, atol=1e-12)
        np.testing.assert_allclose(corners.max(axis=0), centre + 0.1, atol=1e-12)
    strips = tiles(page, np.array([[0.5], [-1.0], [2.0]]), (-2.0,), (2.0,))
    assert [(corners.min(axis=0).tolist(), corners.max(axis=0).tolist()) for corners in strips] == [
        ([-0.25, 0.0], [1.25, 1.0]),
        ([-2.0, 0.0], [-0.25, 1.0]),
        ([1.25, 0.0], [2.0, 1.0]),
    ]
    centroids = np.array([[0.5, 0.5], [0.5, 0.5], [3.0, 0.5]])  # two at one place, and one outside
    one, other, outside = tiles(page, centroids, (0.0, 0.0), (1.0, 1.0))
    np.testing.assert_array_equal(one, [[0, 0], [1, 0], [1, 1], [0, 1]])
    np.testing.assert_array_equal(other, one)
    assert outside.size == 0


class Early:
    """A page with nothing but its map: the framework's scripts are held back."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self._held, self._free = page, list[Any](), False
        page.route("**/*.prod.js", self._answer)
        page.goto(address, wait_until="commit")
        page.wait_for_selector(".dcrl-cells path")

    def load(self) -> None:
        self._free = True
        for route in self._held:
            route.continue_()

    def _answer(self, route: Any) -> None:
        if self._free:
            route.continue_()
        else:
            self._held.append(route)


@pytest.fixture
def early(address: str, new_page: Callable[..., Any]) -> Early:
    return Early(new_page("about:blank", wait=False), address)


def test_the_first_map_keeps_the_keyboard(early: Early) -> None:
    page = early.page
    page.focus(".dcrl-map svg")
    page.wait_for_timeout(1200)
    assert page.get_by_text("Your browser does not support").count() == 0
    early.load()
    page.wait_for_selector(".dcrl-player")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute(".dcrl-chosen", "d")


def test_a_choice_made_before_the_page_has_loaded_is_played(early: Early, found: Repertoire) -> None:
    page = early.page
    place = page.locator(".dcrl-map svg").bounding_box()
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    outline = page.get_attribute(".dcrl-chosen", "d")
    assert page.locator(".dcrl-modes").count() == 0
    early.load()
    assert_shows(page, "elite", dcrl.rollout("point_omni", found.genotype[[cell]], 0, hidden=HIDDEN), 0, f"cell {cell}")
    assert page.get_attribute(".dcrl-chosen", "d") == outline
    assert (page.locator(".dcrl-map svg").count(), page.locator("main").count()) == (1, 1)
    assert page.locator(".dcrl-map svg").bounding_box() == place  # nothing jumped


def test_words_from_a_file_stay_words() -> None:
    from dcrl.explorer.elements import first

    page = first("{}", {"run": HOSTILE, "heading": HOSTILE, "about": HOSTILE})
    assert page.count("</script>") == 3  # its own
    assert "<img" not in page
