"""The sidebar from `navigation.toml`, so that pages stay plain Markdown; a page that it lacks is an error."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

# Links to files beside docs/ that are pages of the site under another name
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmark-scripts.md",
    "results/README.md": "study-data.md",
}


def sections(source: Path) -> list[tuple[str, list[str]]]:
    content = tomllib.loads((source / "navigation.toml").read_text(encoding="utf-8"))
    return [(section["caption"], section["pages"]) for section in content["section"]]


def check(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Refuse pages without a place in the navigation, and places without a page."""
    listed = [page for _, pages in sections(Path(app.srcdir)) for page in pages]
    folders = {page.removesuffix("/index") for page in listed if page.endswith("/index")}
    found = {page for page in env.found_docs if page.rpartition("/")[0] not in folders} - {"index"}
    named = {page for page in listed if page.rpartition("/")[0] not in folders}
    problems = [
        f"docs/{page} is not in the navigation: add {page!r} to a section of docs/navigation.toml"
        for page in sorted(found - named)
    ]
    problems += [
        f"docs/navigation.toml lists {page!r}, but docs/ has no such page"
        for page in sorted(set(listed) - env.found_docs)
    ]
    problems += [
        f"docs/navigation.toml lists {page!r} twice" for page in sorted({p for p in listed if listed.count(p) > 1})
    ]
    if problems:
        raise ExtensionError("\n".join(problems))


def add(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the tables of contents, which are hidden, to the first page and to the index of each folder."""
    source[0] = re.sub(r"\]\((?:\.\./)+([\w/]+\.md)", _renamed, source[0])
    if page.endswith("index"):
        app.env.note_reread()  # the pages of its folder may have changed
    if page == "index":
        source[0] += "".join(_toctree(pages, caption) for caption, pages in sections(Path(app.srcdir)))
    elif page.endswith("/index"):
        folder = page.removesuffix("/index")
        others = sorted(other for other in app.env.found_docs if other.startswith(f"{folder}/") and other != page)
        source[0] += _toctree([other.removeprefix(f"{folder}/") for other in others])


def _renamed(link: re.Match[str]) -> str:
    beside = BESIDE.get(link[1])
    return link[0] if beside is None else f"](/{beside}"


def _toctree(pages: list[str], caption: str | None = None) -> str:
    lines = ["\n\n```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *pages, "```\n"]
    return "\n".join(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", check)
    app.connect("source-read", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
