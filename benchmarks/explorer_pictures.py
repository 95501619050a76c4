"""The pictures of docs/explorer.md and of the README: screenshots of `dcrl explore`.

    python benchmarks/explorer_pictures.py runs/walker2d_uni/dcrl_me/seed-0

Needs a run of a task with two descriptor dimensions and an actor, and Chromium.
"""

from __future__ import annotations

import argparse
import io
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What to click and when to stop."""

    name: str
    mode: str  # the button's text
    place: tuple[float, float]  # a descriptor
    step: int
    width: int
    height: int
    dark: bool = False
    whole: bool = False  # the page to its end, not only what a screen shows
    compared: tuple[float, float] | None = None  # the descriptor of an elite to compare with
    colours: str | None = None  # the value that colours mean, if the run has it
    charts: bool = False  # of joints over time


def click(page: Page, place: tuple[float, float]) -> None:
    """On the map, where a descriptor is."""
    where = page.evaluate(
        "place => { const p = new DOMPoint(...place).matrixTransform("
        "document.querySelector('.dcrl-cells').getScreenCTM()); return [p.x, p.y]; }",
        list(place),
    )
    page.mouse.click(*where)


def take(browser: Browser, address: str, picture: Picture) -> None:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.dark else "light",
        device_scale_factor=1 if picture.width > 600 else 1.5,
    )
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector(".dcrl-cells path", state="attached")
    page.get_by_role("button", name=picture.mode, exact=True).click()
    if picture.colours is not None and page.locator(".dcrl-colour").count():
        page.locator(".dcrl-colour").select_option(picture.colours)
    if picture.compared is not None:
        click(page, picture.compared)
        page.wait_for_selector(".dcrl-readout")
        page.get_by_role("button", name="compare", exact=True).click()
        page.get_by_text("compared with cell").wait_for()
    click(page, picture.place)
    two = picture.compared is not None or picture.mode == "side by side"
    page.wait_for_function(f"document.querySelectorAll('.dcrl-readout').length === {1 + two}")
    if picture.charts:
        page.locator(".dcrl-traces summary").first.click()
        page.locator(".dcrl-traces summary").last.click()
    page.wait_for_timeout(1000)
    page.locator(".dcrl-scrub").fill(str(picture.step))
    page.wait_for_selector(f".dcrl-status:has-text('step {picture.step} ')")
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)
    shot = Image.open(io.BytesIO(page.screenshot(full_page=picture.whole))).convert("RGB")
    file = FOLDER / f"{picture.name}.png"
    shot.save(file, optimize=True)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--elite", type=float, nargs=2, default=(0.34, 0.17), help="a descriptor")
    parser.add_argument("--beside", type=float, nargs=2, default=(0.922, 0.849), help="another, for elite and actor")
    parser.add_argument("--step", type=int, default=345)
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    one, two, step = tuple(given.elite), tuple(given.beside), given.step
    pictures = (
        Picture(name="explorer", mode="side by side", place=two, step=step, width=1360, height=880),
        Picture(
            name="explorer-compare",
            mode="elite",
            place=one,
            compared=two,
            charts=True,
            step=step,
            width=1360,
            height=880,
            whole=True,
        ),
        Picture(
            name="explorer-dark",
            mode="elite",
            place=one,
            colours="entered",
            step=step,
            width=1360,
            height=880,
            dark=True,
        ),
        Picture(name="explorer-phone", mode="elite", place=one, step=step, width=390, height=844, whole=True),
    )
    command = [Path(sys.executable).with_name("dcrl"), "explore", given.run, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for picture in pictures:
                take(browser, line[line.index("http") :].split()[0], picture)
            browser.close()
        finally:
            server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
