"""`dcrl explore` in a real browser: elites, the actor, tabs, and runs that change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.learners.conditioning import normalise
from dcrl.networks.policies import specialise
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from support.browsing import HIDDEN, assert_shows, choose_run, click_at, shown

pytest.importorskip("nicegui", reason="the explorer is an optional extra")


def test_a_clicked_elite_moves_and_earns_what_rollout_says(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address)
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    for seed in (0, 1):
        played = dcrl.rollout("point_omni", found.genotype[[cell]], seed, hidden=HIDDEN)
        assert_shows(page, "elite", played, seed, f"cell {cell}")
        assert np.float32(shown(page, "elite", "fitness.reference", seed)) == found.fitness[cell]
        if seed == 0:
            page.get_by_role("button", name="re-roll").click()
    page.wait_for_function("Number(document.querySelector('.dcrl-player').dataset.time) > 5")  # it plays by itself
    page.locator(".dcrl-scrub").fill("0")
    page.wait_for_function("document.querySelector('.dcrl-player').dataset.time === '0.00'")
    start = page.locator(".dcrl-view canvas").screenshot()
    page.locator(".dcrl-scrub").fill("50")
    page.wait_for_selector(".dcrl-status:has-text('step 50 of 50, 5.00 s')")
    assert page.locator(".dcrl-view canvas").screenshot() != start
    assert shown(page, "elite", "fitness.now", 1) == pytest.approx(shown(page, "elite", "fitness.end", 1), rel=1e-6)
    page.mouse.move(0, 0)
    page.hover(f"[data-cell='{cell}']")
    assert f"cell {cell}" in page.locator(".dcrl-tip").inner_text()
    page.wait_for_selector(".dcrl-chart canvas")


def test_the_actor_goes_where_no_elite_is(address: str, new_page: Callable[..., Any], found: Repertoire) -> None:
    page = new_page(address)
    empty = found.centroids[np.flatnonzero(~found.occupied)[0]]
    click_at(page, empty)
    page.wait_for_selector(".dcrl-hint:has-text('is empty; the nearest elite is in cell')")
    page.get_by_role("button", name="side by side").click()
    page.wait_for_selector(".dcrl-readout >> nth=1")
    target = [shown(page, "actor", f"descriptor.{i}.reference", 0) for i in (0, 1)]
    np.testing.assert_allclose(target, empty, atol=0.05)
    condition = normalise(found.space, np.asarray(target))[None]
    assert found.actor_parameters is not None
    actor = specialise(found.actor_layers, found.actor_parameters, condition)
    assert_shows(page, "actor", dcrl.rollout("point_omni", actor, 0, hidden=HIDDEN), 0)
    reached = [shown(page, "actor", f"descriptor.{i}.end", 0) for i in (0, 1)]
    np.testing.assert_allclose(reached, target, atol=0.1)  # m, of a square of 6 m
    beside = found.genotype[found.nearest(target, 1)]
    assert_shows(page, "elite", dcrl.rollout("point_omni", beside, 0, hidden=HIDDEN), 0)


def test_the_keyboard_moves_between_cells_and_pauses(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address, color_scheme="dark")
    assert page.evaluate("document.body.classList.contains('body--dark')")
    page.get_by_role("button", name="actor", exact=True).click()
    page.focus(".dcrl-map svg")
    places = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
        places.append(page.get_attribute(".dcrl-chosen", "d"))
    assert len(set(places)) == 3
    page.wait_for_selector(".dcrl-readout")
    page.keyboard.press(" ")
    before = page.get_attribute(".dcrl-player", "data-time")
    page.wait_for_timeout(200)
    assert page.get_attribute(".dcrl-player", "data-time") == before
    page.keyboard.press("+")
    zoomed = page.get_attribute(".dcrl-cells", "transform")
    page.keyboard.press("0")
    assert page.get_attribute(".dcrl-cells", "transform") != zoomed


def test_tabs_do_not_disturb_each_other_and_a_closed_one_does_no_harm(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    first, second = (int(cell) for cell in np.flatnonzero(found.occupied)[:2])
    one, other, closed = new_page(address), new_page(address), new_page(address)
    click_at(closed, found.centroids[first])
    closed.close()  # while the server simulates
    click_at(one, found.centroids[first])
    click_at(other, found.centroids[second])
    other.get_by_role("button", name="re-roll").click()
    for page, cell, seed in ((one, first, 0), (other, second, 1)):
        played = dcrl.rollout("point_omni", found.genotype[[cell]], seed, hidden=HIDDEN)
        assert_shows(page, "elite", played, seed, f"cell {cell}")


def test_the_page_follows_a_file_that_is_replaced(
    address: str, new_page: Callable[..., Any], found: Repertoire, others: dict[str, Path]
) -> None:
    page = new_page(address)
    choose_run(page, 1)
    about = page.locator(".dcrl-about").first
    count = int(found.occupied.sum())
    page.get_by_text(f"{count} of 64 cells filled").wait_for()
    kept = np.flatnonzero(found.occupied)[1:]
    fewer = np.isin(np.arange(64), kept)
    parts = {name: getattr(found, name) for name in ("fitness", "descriptor")}
    less = {name: np.where(fewer if v.ndim == 1 else fewer[:, None], v, np.nan) for name, v in parts.items()}
    path = others["replaced.safetensors"]
    whole = path.read_bytes()
    genotype = np.where(fewer[:, None], found.genotype, 0)
    save(path, dataclasses.replace(found, occupied=fewer, genotype=genotype, **less))
    page.get_by_text(f"{count - 1} of 64 cells filled").wait_for()
    path.write_bytes(whole[:-100])
    page.get_by_text("showing the map that was there before").wait_for()
    assert str(count - 1) in about.inner_text()
    path.write_bytes(whole)
    page.get_by_text(f"{count} of 64 cells filled").wait_for()


def test_the_page_follows_a_run_that_trains(
    address: str, new_page: Callable[..., Any], others: dict[str, Path]
) -> None:
    page = new_page(address)
    choose_run(page, 4)
    page.get_by_text("after 80 evaluations").wait_for()
    count = int(dcrl.resume(others["training"], evaluations=16 * 9).occupied.sum())
    page.get_by_text(f"{count} of 64 cells filled after 144 evaluations").wait_for()
    assert page.locator(".dcrl-cells path:not(.empty)").count() == count


def test_damage_that_a_map_does_not_show_is_reported(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 5)
    page.wait_for_selector(".dcrl-about:has-text('damaged.safetensors is damaged')")
    page.focus(".dcrl-map svg")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".dcrl-hint:has-text('damaged.safetensors is damaged')")
    assert page.locator(".dcrl-readout").count() == 0  # nothing of it is played


def test_text_in_a_runs_files_is_only_text(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 2)
    page.wait_for_selector(".dcrl-title:has-text('onerror')")
    page.hover(".dcrl-ground", force=True)
    assert page.evaluate("[window.hacked, document.querySelectorAll('img').length]") == [None, 0]
