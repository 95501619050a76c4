"""The documentation site: references from the code, a strict build, pages that load nothing from other machines."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def extensions():
    """The extensions of the site, which are beside its pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        from _site import commands, navigation, public

        yield {"commands": commands, "navigation": navigation, "public": public}


def test_the_command_reference_has_every_command_and_every_flag(extensions):
    commands = extensions["commands"]
    reference = "\n".join(commands.reference())
    assert re.findall(r"^## `dcrl ([a-z-]+)`$", reference, re.MULTILINE) == list(COMMANDS)
    for name in ("train", "render", "convert"):
        flags = set(re.findall(r"^ {1,4}(--[a-z][a-z-]*)", commands.printed(name), re.MULTILINE))
        assert len(flags) > 3
        assert {flag for flag in flags if f"| `{flag}" not in reference} == set()
    assert "| `--seed INT` | The run's seed; runs with the same seed are identical. (default: 0) |" in reference
    assert "640 for .mp4, 400 for .gif" in reference  # a comma between two numbers of a list
    assert "1,000,000" in reference  # is broken at a comma where lines end


def test_a_public_name_without_a_place_or_a_docstring_is_found(extensions):
    public = extensions["public"]
    documented = {f"dcrl.{name}" for name in dcrl.__all__}
    assert list(public.problems(documented)) == []
    assert list(public.problems(documented - {"dcrl.train"})) == [
        "dcrl.train is public but not on an API page: add it to docs/api/"
    ]
    assert "dcrl.types.Any has no docstring" not in list(public.problems(documented))
    assert list(public.problems(documented | {"dcrl.Descriptor.__eq__"})) == ["dcrl.Descriptor.__eq__ has no docstring"]


def built(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    line = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "-b",
        "html",
        source,
        output,
    ]
    return subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=600, check=False)


CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(ROOT / "docs")!r})
extensions = ["myst_parser", "_site.navigation"]
myst_heading_anchors = 3
"""
PAGES = {
    "conf.py": CONFIGURATION,
    "navigation.toml": '[[section]]\ncaption = "All"\npages = ["first", "folder/index"]\n',
    "index.md": "# Index\n\n[a](first.md#first)\n",
    "first.md": "# First\n",
    "folder/index.md": "# Folder\n",
    "folder/other.md": "# Other\n",  # is listed by itself
}


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        (
            {
                "second.md": "# Second\n",
                "navigation.toml": '[[section]]\ncaption = "All"\npages = ["first", "first", "lost", "folder/index"]\n',
            },
            (
                "docs/second is not in the navigation: add 'second' to a section of docs/navigation.toml",
                "lists 'lost', but docs/ has no such page",
                "lists 'first' twice",
            ),
        ),
        ({"first.md": "# First\n\n[a](lost.md)\n[b](index.md#gone)\n"}, ("lost.md", "gone")),
    ],
)
def test_the_build_is_strict(tmp_path, changes, sentences):
    for name, content in (PAGES | changes).items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(content)
    done = built(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    assert [sentence for sentence in sentences if sentence not in done.stderr] == []
    assert "other" not in done.stderr


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere_and_searches_without_a_server(tmp_path):
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: install Debian's chromium to look at the site")
    from playwright.sync_api import sync_playwright

    done = built(ROOT / "docs", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    elsewhere: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(color_scheme="dark")
        page.on("request", lambda request: elsewhere.append(request.url) if request.url.startswith("http") else None)
        for file in ("index.html", "get-started.html", "commands.html", "api/index.html", "tasks/index.html"):
            page.goto((tmp_path / file).as_uri())
            assert page.title()
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(map(int, re.findall(r"\d+", background)[:3])) < 64
        page.goto(f"{(tmp_path / 'search.html').as_uri()}?q=actor+injection")
        page.wait_for_selector("#search-results li a")
        found = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.href)")
        browser.close()
    assert elsewhere == []
    assert any("glossary.html" in link for link in found)
