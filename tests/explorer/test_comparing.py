"""Two elites side by side, values over time, files to download, and colours, in a real browser."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.deployment.arrays import runner
from dcrl.repertoires.repertoire import Repertoire
from support.browsing import HIDDEN, assert_shows, choose_run, click_at, shown
from support.exporting import session

pytest.importorskip("nicegui", reason="the explorer is an optional extra")


def downloaded(page: Any, format: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        page.locator(f"[data-format='{format}']").first.click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_any_two_elites_are_compared(address: str, new_page: Callable[..., Any], found: Repertoire) -> None:
    page = new_page(address)
    first, second, third = (int(cell) for cell in np.flatnonzero(found.occupied)[:3])
    compare = page.locator(".dcrl-compare")
    assert compare.is_disabled()
    click_at(page, found.centroids[first])
    shown(page, "elite", "fitness.end", 0, f"cell {first}")
    compare.click()
    page.get_by_text(f"compared with cell {first}").wait_for()
    for other in (second, third):
        click_at(page, found.centroids[other])
        page.wait_for_selector(f".dcrl-readout:has-text('elite of cell {other}')")
        for kind, cell in (("pinned", first), ("elite", other)):
            played = dcrl.rollout("point_omni", found.genotype[[cell]], 0, hidden=HIDDEN)
            assert_shows(page, kind, played, 0, f"cell {cell}")
    assert page.get_attribute(".dcrl-pinned", "d") != page.get_attribute(".dcrl-chosen", "d")
    assert sorted(mark.get_attribute("data-kind") for mark in page.locator(".dcrl-reached").all()) == [
        "elite",
        "pinned",
    ]
    compare.click()
    page.wait_for_function("document.querySelectorAll('.dcrl-readout').length === 1")
    assert page.get_attribute(".dcrl-pinned", "d") == ""
    fields = page.evaluate("import('dcrl-explorer/framing.js').then((m) => [0.4, 0.7, 1, 2].map(m.fieldOfView))")
    across = [
        2 * np.degrees(np.arctan(np.tan(np.radians(f / 2)) * a)) for f, a in zip(fields, (0.4, 0.7, 1, 2), strict=True)
    ]
    assert across[:3] == pytest.approx([40, 40, 40])  # a narrow picture shows as much from left to right
    assert fields[2:] == pytest.approx([40, 40])


def test_the_chosen_policy_can_be_downloaded(
    address: str, new_page: Callable[..., Any], found: Repertoire, tmp_path: Path
) -> None:
    page = new_page(address, accept_downloads=True)
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    shown(page, "elite", "fitness.end", 0, f"cell {cell}")
    observation = np.random.default_rng(0).normal(size=(5, found.layers.sizes[0])).astype(np.float32)
    expected = found.policy(cell)(observation)
    for format in ("onnx", "npz"):
        name, content = downloaded(page, format)
        assert name == f"point_omni-cell-{cell}.{format}.zip"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert sorted(archive.namelist()) == [name[:-4], f"{name[:-4]}.json"]
            about, policy = json.loads(archive.read(f"{name[:-4]}.json")), archive.read(name[:-4])
        assert (about["elite"]["cell"], about["algorithm"]) == (cell, "me")
        if format == "npz":
            acted = runner(policy)(observation, None)
        else:
            (tmp_path / "policy.onnx").write_bytes(policy)
            (acted,) = session(tmp_path / "policy.onnx").run(["action"], {"observation": observation})
        np.testing.assert_allclose(acted, expected, atol=1e-5)
    page.get_by_role("button", name="actor", exact=True).click()
    page.wait_for_selector(".dcrl-readout:has-text('actor conditioned on')")
    assert downloaded(page, "npz")[0] == "point_omni-actor.npz.zip"
    page.get_by_role("button", name="elite", exact=True).click()
    page.wait_for_selector(f".dcrl-readout:has-text('elite of cell {cell}')")
    name, video = downloaded(page, "video")
    assert (name, video[4:8]) == (f"point_omni-cell-{cell}-seed-0.mp4", b"ftyp")


def test_positions_and_forces_are_drawn_over_time(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address)
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    shown(page, "elite", "fitness.end", 0, f"cell {cell}")
    page.get_by_text("Joint positions and forces over time").click()
    assert page.locator(".dcrl-trace figcaption").all_inner_texts() == ["joint positions (m)", "forces (N)"]
    page.locator(".dcrl-trace-frame").first.click()  # in its middle
    page.wait_for_selector(".dcrl-status:has-text('step 25 of 50')")
    x = float(page.locator(".dcrl-trace-legend .dcrl-number").first.inner_text())
    assert x == pytest.approx(shown(page, "elite", "descriptor.0.now", 0), abs=6e-3)  # where the point is
    before = page.locator(".dcrl-trace polyline").first
    page.locator(".dcrl-trace-legend button").first.click()
    assert not before.is_visible()


def test_colours_mean_what_was_chosen(address: str, new_page: Callable[..., Any], found: Repertoire) -> None:
    page = new_page(address)
    cells = [int(cell) for cell in np.flatnonzero(found.occupied)]

    def colours() -> list[str]:
        return page.evaluate(
            "cells => cells.map((c) => document.querySelector(`[data-cell='${c}']`).style.fill)", cells
        )

    before = colours()
    page.select_option(".dcrl-colour", "entered")
    assert colours() != before
    assert page.locator(".dcrl-map-legend .dcrl-number").first.inner_text() == "0"
    page.hover(f"[data-cell='{cells[0]}']")
    assert "generation of entry" in page.locator(".dcrl-tip").inner_text()
    choose_run(page, 3)  # one without entries
    page.wait_for_selector(".dcrl-cells.dots path >> nth=7", state="attached")
    assert page.locator(".dcrl-colour").count() == 0


def test_what_is_no_seed_does_not_stay_in_the_field(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address)
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    field = page.locator(".dcrl-seed input")
    field.fill("3")
    shown(page, "elite", "fitness.end", 3, f"cell {cell}")
    for wrong, leave in (
        ("-7", field.blur),
        ("1.5", lambda: field.press("Enter")),
        ("", field.blur),
        ("4294967296", field.blur),
    ):
        field.fill(wrong)
        page.get_by_text("a whole number from 0 to 4,294,967,295").wait_for()
        leave()
        page.wait_for_function("document.querySelector('.dcrl-seed input').value === '3'")
    assert shown(page, "elite", "fitness.end", 3) == shown(page, "elite", "fitness.end", 3, f"cell {cell}")
