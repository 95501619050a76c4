"""The map and the player as elements of the page; what they do is in `client/`, shared with exported files."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nicegui.elements.scene  # noqa: F401  (registers three.js, which the player draws with)
from nicegui import __version__
from nicegui.dependencies import esm_modules
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from dcrl.explorer.wire import dump

CLIENT = Path(__file__).parent / "client"
SCRIPTS = {"dcrl-explorer": "client"}


class ArchiveMap(Element, component="client/map_element.js", esm=SCRIPTS):
    """The archive, at first what `first` has; calls `on_pick` with what the browser sent, which may be anything.

    `command` starts the server again; the page says so when the server is gone.
    """

    def __init__(self, on_pick: Callable[[Any], Any], command: str) -> None:
        super().__init__()
        self._props["command"] = command
        self.on("pick", lambda event: on_pick(_only(event)))

    def show(self, archive: str) -> None:
        self._props["archive"] = archive
        self.update()

    def aim(self, on: bool) -> None:
        """Whether a place on the map is a target for the actor."""
        self._props["aim"] = on
        self.update()

    def pin(self, cell: int | None) -> None:
        """Outline the cell that others are compared with."""
        self._props["pinned"] = cell
        self.update()


class Player(Element, component="client/player_element.js", esm=SCRIPTS):
    """The robots in motion; calls `on_download` with what the browser sent, which may be anything."""

    def __init__(self, hint: str, on_download: Callable[[Any], Any]) -> None:
        super().__init__()
        self._props["hint"] = hint
        self.on("download", lambda event: on_download(_only(event)))

    def show(self, motions: str) -> None:
        self._props["motions"] = motions
        self._props["hint"] = ""
        self.update()

    def say(self, hint: str) -> None:
        """Put a sentence over the picture."""
        self._props["hint"] = hint
        self.update()


def _only(event: GenericEventArguments) -> Any:
    return event.args


def style() -> str:
    return f"<style>{(CLIENT / 'explore.css').read_text()}</style>"


def scripts() -> list[Path]:
    """The scripts that the live page and exported files share."""
    return [script for script in sorted(CLIENT.glob("*.js")) if not script.stem.endswith("_element")]


@cache
def map_scripts() -> tuple[str, ...]:
    """The names of those that draw the map: the first one and all that it imports."""
    found = ["first.js"]
    for name in found:  # grows meanwhile
        imported = re.findall(r'from "dcrl-explorer/([^"]+)"', (CLIENT / name).read_text())
        found += [other for other in imported if other not in found]
    return tuple(found)


def first(archive: str, words: dict[str, str]) -> str:
    """The map, drawn before the page around it has loaded."""
    key = next(key for key, module in esm_modules.items() if module.name == "dcrl-explorer")
    folder = f"/_nicegui/{__version__}/esm/{key}"
    early = "".join(f'<link rel="modulepreload" href="{folder}/{name}">' for name in map_scripts())
    return (
        f'{early}<script type="application/json" id="dcrl-archive">{archive}</script>'
        f'<script type="application/json" id="dcrl-words">{dump(words)}</script>'
        '<script type="module">import "dcrl-explorer/first.js";</script>'
    )
