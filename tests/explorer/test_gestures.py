"""The map under the hands: more than two dimensions, sliders, and two fingers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dcrl.repertoires.repertoire import Repertoire
from support.browsing import choose_run, click_at, shown

pytest.importorskip("nicegui", reason="the explorer is an optional extra")


def test_more_than_two_dimensions_have_axes_to_choose(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 3)
    page.wait_for_selector(".dcrl-cells.dots path >> nth=7", state="attached")
    before = page.get_attribute("[data-cell='7']", "d")
    page.select_option("[data-axis='1']", "3")
    assert page.get_attribute("[data-cell='7']", "d") != before
    assert "front right" in page.locator(".dcrl-title").last.text_content()
    x, y = re.findall(r"[\d.]+", page.get_attribute("[data-cell='7']", "d"))[:2]
    click_at(page, np.array([float(x), float(y)]))
    shown(page, "elite", "descriptor.3.end", 0, "cell 7")


def test_sliders_hold_the_dimensions_that_the_map_does_not_show(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 3)
    page.wait_for_selector(".dcrl-cells.dots path >> nth=7", state="attached")
    page.get_by_role("button", name="actor", exact=True).click()
    page.locator("[data-dimension='2']").fill("0.25")
    page.locator("[data-dimension='3']").fill("0.75")
    click_at(page, np.array([0.5, 0.5]))

    def target(dimension: int) -> float:
        return shown(page, "actor", f"descriptor.{dimension}.reference", 0)

    assert [target(2), target(3)] == [0.25, 0.75]
    assert [target(0), target(1)] == pytest.approx([0.5, 0.5], abs=0.01)
    page.focus(".dcrl-map svg")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp"):  # to an elite: the sliders show where it is elsewhere
        page.keyboard.press(key)
    page.wait_for_function("document.querySelector('[data-dimension=\"3\"]').value !== '0.75'")
    elite = float(page.locator("[data-dimension='3']").input_value())
    page.locator("[data-dimension='2']").fill("0.125")
    page.wait_for_selector("[data-readout='actor.descriptor.2.reference'][data-value='0.125']")
    assert target(3) == pytest.approx(elite, abs=1e-6)  # only the one that was moved has changed


def test_two_fingers_zoom_and_one_moves_the_map(address: str, new_page: Callable[..., Any], found: Repertoire) -> None:
    page = new_page(address, has_touch=True)
    box = page.locator(".dcrl-map svg").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, *offsets: float) -> None:
        points = [{"x": x + offset, "y": y, "id": i} for i, offset in enumerate(offsets)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def scale() -> float:
        return float(re.findall(r"[-\d.e]+", page.get_attribute(".dcrl-cells", "transform"))[0])

    whole = scale()
    fingers("touchStart", -20, 20)
    for apart in (30, 45, 60):
        fingers("touchMove", -apart, apart)
    fingers("touchEnd")
    assert scale() == pytest.approx(3 * whole, rel=0.05)
    before = page.get_attribute(".dcrl-cells", "transform")
    fingers("touchStart", 0)
    fingers("touchMove", 30)
    fingers("touchMove", 60)
    fingers("touchEnd")
    assert scale() == pytest.approx(3 * whole, rel=0.05)
    assert page.get_attribute(".dcrl-cells", "transform") != before
    assert page.locator(".dcrl-readout").count() == 0  # nothing was chosen by the way
