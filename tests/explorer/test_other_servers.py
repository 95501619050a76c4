"""Gymnasium environments, whose own pictures are played; and a server that ends while the page is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.explorer.opened import open_runs
from dcrl.networks.policies import Layers
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from support import square
from support.browsing import assert_shows, click_at, serving, shown

pytest.importorskip("nicegui", reason="the explorer is an optional extra")

PUSHES = (-0.5, 0.0, 0.9)  # the last one ends the episode early


def save_square(path: Path, name: str) -> Repertoire:
    """Three elites that push the square to the left, not at all, and to the right."""
    found = Repertoire(
        task=f"{Path(square.__file__)}:{name}",
        layers=Layers((1, 1)),
        space=square.task.descriptor,
        centroids=np.array([[-0.6], [0.0], [0.9]], np.float32),
        occupied=np.ones(3, bool),
        fitness=np.array([11.4, 12.0, 9.0], np.float32),
        descriptor=np.array([[-0.6], [0.0], [0.95]], np.float32),
        genotype=np.stack([square.pushing(push) for push in PUSHES]),
    )
    save(path, found)
    return found


def test_a_task_of_ones_own_is_shown_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "archive.safetensors"
    saved = save_square(path, "task")
    opened = open_runs((path,), trust=True)[0]
    assert opened.task_name == square.task.name
    assert opened.content.outline.task == saved.task  # its file and its object, where it is found


def test_environments_show_their_own_pictures_until_the_server_ends(
    new_page: Callable[..., Any], tmp_path: Path
) -> None:
    seen, unseen = tmp_path / "seen.safetensors", tmp_path / "unseen.safetensors"
    found = save_square(seen, "task")
    save_square(unseen, "unseen_task")
    with serving(seen, unseen, "--trust-task") as server:
        page = new_page(server.address, server_ends=True)
        assert page.locator(".dcrl-heading").first.inner_text().endswith(square.task.name)  # not its file's
        for cell, steps in ((0, square.STEPS), (2, None)):
            click_at(page, np.array([found.centroids[cell, 0], 0.5]))
            played = dcrl.rollout(square.task, found.genotype[[cell]], 0, hidden=())
            assert_shows(page, "elite", played, 0, f"cell {cell}")
            end = int(played.steps[0])
            assert steps is None or end == steps
            page.locator(".dcrl-scrub").fill(str(end))
            page.wait_for_selector(f".dcrl-images img[data-frame='{end}']")
            assert page.evaluate(MIDDLE_OF_RED) == pytest.approx(float(played.descriptor[0, 0]), abs=0.1)
        assert page.get_by_text("it terminated").count() == 1
        assert not page.locator(".dcrl-follow").is_visible()  # no camera
        assert page.locator("[data-format='video']").is_visible()
        page.get_by_role("combobox", name="run").click()
        page.locator(".q-menu .q-item").nth(1).click()
        page.get_by_text("Choose a point on the map: click").wait_for()
        click_at(page, np.array([0.0, 0.5]))
        page.wait_for_selector(".dcrl-hint:has-text('cannot be rendered: a picture needs the render mode')")
        shown(page, "elite", "fitness.end", 0, "cell 1")  # its numbers are there all the same
        assert page.locator("[data-format='video'], .dcrl-images img").count() == 0

        assert server.stop() == ""
        page.wait_for_selector(".dcrl-lost")
        port = server.address.rpartition(":")[2].rstrip("/")
        program, *words = page.locator(".dcrl-lost code").inner_text().split()
        assert Path(program).name == "dcrl"
        assert sorted(words) == sorted(f"explore {seen} {unseen} --trust-task --port {port}".split())
        assert page.locator(".dcrl-modes").get_attribute("inert") is not None
        click_at(page, np.array([-0.6, 0.5]))
        page.wait_for_selector(".dcrl-hint:has-text('is not responding')")
        assert page.locator(".dcrl-readout").count() == 0  # nothing is shown as if it were the choice
    with serving(seen, unseen, "--trust-task", port=int(port)):
        page.wait_for_selector(".dcrl-lost", state="detached")
        page.wait_for_selector(".dcrl-player")
        click_at(page, np.array([found.centroids[0, 0], 0.5]))
        shown(page, "elite", "fitness.end", 0, "cell 0")


MIDDLE_OF_RED = """() => {
  const image = document.querySelector(".dcrl-images img");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 12, canvas.width, 1);
  let [sum, count] = [0, 0];
  for (let x = 0; x < canvas.width; x++) {
    if (data[4 * x] > 200 && data[4 * x + 1] < 100) [sum, count] = [sum + x + 0.5, count + 1];
  }
  return (sum / count / canvas.width) * 2 - 1;
}"""
