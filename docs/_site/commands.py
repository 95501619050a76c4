"""The command reference: what `dcrl COMMAND --help` says, of every command, instead of a marker in `commands.md`."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest import mock

from sphinx.application import Sphinx

from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.cli.main import COMMANDS, command

MARKER = "<!-- commands -->"
TITLES = {"positional arguments": "Arguments", "options": "Options"}


@dataclass
class Group:
    """Flags that belong together, with their meanings."""

    title: str
    text: str = ""
    flags: list[list[str]] = field(default_factory=list)


@dataclass
class Help:
    """The help of a command."""

    usage: str = ""
    text: list[str] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


def printed(*arguments: str) -> str:
    """The help of a command as it is printed; without boxes, because the stream has no encoding."""
    output = io.StringIO()
    width = mock.patch.dict(os.environ, {"COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"})
    with width, contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        command([*arguments, "--help"])
    return output.getvalue()


def read(text: str) -> Help:
    """The parts of a help text. A group is a title, a rule, then flags; or a text, another rule, then flags."""
    found, lines = Help(), [line.rstrip() for line in text.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("usage: "):
            found.usage = line.removeprefix("usage: ")
        elif re.match(r" -+$", following):
            found.groups.append(Group(line.strip()))
        elif not found.groups:
            found.text.append(line)
        elif re.match(r"  -+$", line):  # what looked like flags was the group's text
            group = found.groups[-1]
            group.text, group.flags = " ".join(" ".join(flag).strip() for flag in group.flags), []
        elif match := re.match(r"  (\S.*?)(?: {2,}(\S.*))?$", line):
            found.groups[-1].flags.append([match[1], match[2] or ""])
        elif line and not line.startswith(" -"):
            flag = found.groups[-1].flags[-1]
            joined = f"{flag[1]} {line.strip()}".strip()
            flag[1] = re.sub(r"\b(\d{1,3}(?:,\d{3})*,) (?=\d{3}\b)", r"\1", joined)  # a number broken at a comma
    return found


def section(name: str, *arguments: str) -> Iterator[str]:
    """A command as Markdown; the hyperparameters of algorithms have sections of their own."""
    found = read(printed(name, *arguments))
    if not found.usage or not found.text:
        raise ValueError(f"dcrl {name} --help has no usage and no text")
    yield f"```text\n{found.usage}\n```\n"
    yield "\n".join(found.text).strip() + "\n"
    yield from (table for group in found.groups if not _of_algorithm(group) for table in listed(group))


def listed(group: Group) -> Iterator[str]:
    flags = [(flag, meaning) for flag, meaning in group.flags if not flag.startswith("-h")]
    if flags:
        title = TITLES.get(group.title, group.text or group.title)
        yield f"**{title.rstrip('.')}**\n"
        yield f"| {'argument' if title == 'Arguments' else 'flag'} | |\n|---|---|"
        yield "\n".join(f"| {_code(flag)} | {_cell(meaning)} |" for flag, meaning in flags) + "\n"


def _code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`"


def _cell(text: str) -> str:
    """A meaning in a cell of a table: names in backticks stay, everything else is text."""
    parts = text.split("`")
    return "`".join(part if i % 2 else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part) for i, part in enumerate(parts))


def reference() -> Iterator[str]:
    for name in COMMANDS:
        yield f"\n## `dcrl {name}`\n"
        parts = re.findall(rf"^  dcrl {name} ([a-z-]+)  ", printed(name), re.MULTILINE)  # commands of its own
        for part in parts:
            yield f"\n### `dcrl {name} {part}`\n"
            yield from section(name, part)
        if not parts:
            yield from section(name)
        if name == "train":
            yield from hyperparameters()


def hyperparameters() -> Iterator[str]:
    """The flags of `dcrl train` that depend on the algorithm."""
    for name in CATALOGUE:
        groups = read(printed("train", "placeholder", "--algorithm", name)).groups
        yield f"\n### `dcrl train TASK --algorithm {name}`\n"
        yield f"{CATALOGUE[name].summary}.\n"
        yield from (table for group in groups if _of_algorithm(group) for table in listed(group))


def _of_algorithm(group: Group) -> bool:
    return group.title.startswith("hyperparameters")


def insert(app: Sphinx, page: str, source: list[str]) -> None:
    if MARKER in source[0]:
        app.env.note_reread()  # the commands may have changed
        source[0] = source[0].replace(MARKER, "\n".join(reference()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
