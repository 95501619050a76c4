"""The documentation: the links, files, commands and flags it names exist, and it avoids banned phrases."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import COMMANDS, command

ROOT, SOURCE = Path(__file__).parents[1], Path(dcrl.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
# What nobody in the field would write: "a row a generation" is one row per generation, "goes on with" is resumes
COUNTED = "one|row|line|page|file|bar|process|dot|map|offspring|evaluations|steps|column|number|module|directory|run"
PER = "generation|run|episode|cell|elite|learner|algorithm|task|policy|core|kill|verb|step|dimension|device|second"
BANNED = re.compile(
    rf"\b(?:(?:{COUNTED})[ _]an?[ _](?:{PER})|go(?:es|ing)? on with|steps lived|films?|is told|no verb|promise[ds]?)\b",
)
WRITTEN = [*PAGES, *SOURCE.rglob("*.py"), *SOURCE.rglob("*.js"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("*/*.py")]

LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4}|\.venv/bin/)?dcrl ([a-z-]+)(.*)$", re.MULTILINE)  # a line of an example
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def text(page: Path) -> str:
    """A page without its fenced code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in HEADING.findall(text(page)))
    return frozenset(heading.replace(" ", "-") for heading in headings)


def broken_links(page: Path) -> Iterator[str]:
    for link in LINK.findall(text(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_point_to_files_and_headings(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A *long* heading, here\n[a](#a-long-heading-here) [b](#missing) [c](missing.md) [d](https://e.org)"
    )
    assert list(broken_links(page)) == ["#missing", "missing.md"]


NAVIGATION = tomllib.loads((ROOT / "docs/navigation.toml").read_text(encoding="utf-8"))["section"]
GUIDES = next(section["pages"] for section in NAVIGATION if section["caption"] == "How-to guides")
LINKING = ["get-started", "algorithms/index", "tasks/index", *(page for page in GUIDES if "notebooks" not in page)]
TERMS = ("archive", "descriptor", "elite", "repertoire")
NO_PROSE = re.compile(
    r"^(?: {4}|#|\||!\[|<).*$|`[^`]*`|\[[^\]]*\]\([^)]*\)", re.MULTILINE
)  # code, headings, tables, links


def unlinked(page: str) -> list[str]:
    """The terms that a page uses in its sentences and never links to the glossary."""
    words = set(re.findall(r"[\w-]+", NO_PROSE.sub("", page).lower()))
    return [term for term in TERMS if words & {term, f"{term}s"} and f"glossary.md#{term})" not in page]


@pytest.mark.parametrize("page", LINKING)
def test_terms_are_linked_to_the_glossary(page: str) -> None:
    assert unlinked(text(ROOT / f"docs/{page}.md")) == []


def test_a_term_without_a_link_is_found() -> None:
    page = "# Repertoire\n`descriptor`, [elite](x.md), [archive](glossary.md#archive) and archive with\n elites"
    assert unlinked(page) == ["elite"]


def test_no_page_and_no_source_uses_a_banned_phrase() -> None:
    found = {
        name(file): BANNED.findall(" ".join(file.read_text(encoding="utf-8").split()))
        for file in WRITTEN
        if file != Path(__file__)
    }
    assert len(found) > 300
    assert {file: phrases for file, phrases in found.items() if phrases} == {}


def test_banned_phrases_are_found() -> None:
    line = "A row a generation, steps lived, two films; one seed is promised and goes on with one_a_policy"
    assert len(BANNED.findall(line)) == 6


def test_the_architecture_page_describes_every_package() -> None:
    page = text(ROOT / "docs/architecture.md")
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert [part for part in sorted(packages | modules) if f"`{part}`" not in page] == []


@pytest.mark.parametrize("page", [ROOT / "docs/architecture.md", *sorted(ROOT.glob("docs/algorithms/*.md"))], ids=name)
def test_source_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`([\w/]+/\w+\.py)`", text(page))
    assert [file for file in named if not any((place / file).exists() for place in (ROOT, SOURCE))] == []


def examples(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The commands in a page's examples, each with its flags; those after `--` are of `dcrl train`."""
    for name, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        own, _, passed_on = rest.partition("#")[0].partition(" -- ")
        yield name, re.findall(r"(--[a-z][a-z0-9-]*)", own)
        yield "train", re.findall(r"(--[a-z][a-z0-9-]*)", passed_on)


def test_commands_and_flags_of_the_examples_exist(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    used: dict[str, set[str]] = {}
    for page in (ROOT / "README.md", ROOT / "docs/runs.md", *ROOT.glob("docs/algorithms/*.md")):
        for name, flags in examples(page):
            used.setdefault(name, set()).update(flags)
    assert {"train", "resume", "sweep", "explore"} <= set(used) <= set(COMMANDS)
    for name, flags in used.items():
        with suppress(SystemExit):
            command([name, "--help"])
        known = set(re.findall(r"--[a-z][a-z0-9-]*", capsys.readouterr().out))
        assert flags <= known, name
