"""The report's page: its parts as HTML, and the whole in a real browser, wide, narrow, light and dark."""

from __future__ import annotations

import base64
import shutil

import matplotlib.image
import numpy as np
import pytest

from dcrl.analysis import page
from dcrl.analysis.page import Commands, Gallery, Picture, Remarks, Section
from dcrl.analysis.tables import Table

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDE = Table(columns=tuple(f"a column {i}" for i in range(40)), rows=(tuple(float(i) for i in range(40)),))


def png(path, shade: float, width: int = 1400) -> bytes:
    matplotlib.image.imsave(path, np.full((300, width, 3), shade))
    return path.read_bytes()


@pytest.fixture
def written(tmp_path):
    figure = tmp_path / "figures" / "curves.png"
    figure.parent.mkdir()
    png(figure, 1.0)
    png(figure.with_name("curves-dark.png"), 0.1)
    small = png(tmp_path / "small.png", 0.5, 400)
    parts = (
        "Use `dcrl evaluate RUN` & <b>.",
        Picture(path=figure, caption="Curves."),
        Gallery(pictures=(("ME, seed 0", small),), caption="Stored maps."),
        WIDE,
        Remarks(sentences=("A run is missing; `dcrl train` makes it.",)),
        Commands(lines=("dcrl train x --output 'a `b`'",)),
    )
    page.write(tmp_path / "index.html", "A title", [Section(title="Runs compared", parts=parts)])
    return tmp_path / "index.html"


def test_backticks_are_code_and_text_is_escaped(written):
    text = written.read_text()
    assert "<p>Use <code>dcrl evaluate RUN</code> &amp; &lt;b&gt;.</p>" in text
    assert "<code>dcrl train</code> makes it" in text
    assert "&#x27;a `b`&#x27;" in text  # a command stays as it is


def test_a_figure_has_a_dark_variant_inside(written):
    text = written.read_text()
    dark = base64.b64encode((written.parent / "figures" / "curves-dark.png").read_bytes()).decode()
    assert f'<source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,{dark}">' in text


@pytest.mark.parametrize(("content", "good"), [(page.PNG + b"x", True), (b"<svg>", False), (None, False)])
def test_only_pngs_of_a_run_are_shown(content, good, tmp_path):
    if content is not None:
        (tmp_path / "map.png").write_bytes(content)
    assert page.is_picture(tmp_path / "map.png") is good


def test_the_page_opens_in_a_browser_without_errors_or_requests(written):
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright to open the page with")
    if CHROMIUM is None:
        pytest.skip("no Chromium to open the page with")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, scheme in ((1200, "light"), (390, "light"), (1200, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            problems: list[str] = []
            requests: list[str] = []
            tab.on("console", lambda message, problems=problems: problems.append(message.text))
            tab.on("pageerror", lambda error, problems=problems: problems.append(str(error)))
            tab.on("request", lambda request, requests=requests: requests.append(request.url))
            tab.goto(written.as_uri())
            assert problems == []
            assert [url for url in requests if not url.startswith("data:")] == [written.as_uri()]
            assert tab.evaluate("[...document.images].every(image => image.naturalWidth > 300)")
            assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            # the wide table scrolls within its box to its last column
            assert tab.evaluate(
                "(box => { box.scrollLeft = 1e5; const cell = box.querySelector('td:last-child');"
                "return cell.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1; })"
                "(document.querySelector('table').parentElement)"
            )
            shown = tab.evaluate("document.querySelector('picture img').currentSrc")
            assert shown == tab.evaluate(
                "document.querySelector('picture " + ("source').srcset" if scheme == "dark" else "img').src")
            )
        browser.close()
