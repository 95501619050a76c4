"""The page: a map to choose on, robots that move, numbers, and the curves of training. One view per browser tab."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from nicegui import run as threads
from nicegui import ui

from dcrl.explorer import curves, downloads
from dcrl.explorer.elements import ArchiveMap, Player, first, style
from dcrl.explorer.opened import Content, Opened
from dcrl.explorer.panel import Panel
from dcrl.explorer.playing import MODES, Choice, Mode, Played, place, sentence, simulated

LOOK_SECONDS = 1.0  # how often a tab looks whether its run has changed
WELCOME = "Choose a point on the map: click, or use the arrow keys."


class View:
    """What one browser tab shows. Nothing of it is shared with other tabs but the runs themselves."""

    def __init__(self, runs: Sequence[Opened], command: str) -> None:
        self.runs, self.run, self.command = runs, runs[0], command
        self.shown: Content = self.run.content
        self.mode: Mode = "elite"
        self.seed = 0
        self.pinned: int | None = None
        self.choice: tuple[int | None, list[float]] | None = None
        self.played: Played | None = None
        self.turn = 0
        self.client = ui.context.client

    def build(self) -> None:
        ui.add_head_html(style() + first(self.shown.map, {"run": self.run.label, **self.words()}))
        ui.dark_mode(None)  # as the system is, until somebody presses the button
        with ui.header(fixed=False).classes("dcrl-header"):
            ui.label("dcrl explore").classes("dcrl-brand")
            if len(self.runs) > 1:
                names = {i: run.label for i, run in enumerate(self.runs)}
                ui.select(names, value=0, on_change=lambda event: self.open(event.value)).props(
                    'dense outlined dark aria-label="run"'
                ).classes("dcrl-run")
            else:
                ui.label(self.run.label).classes("dcrl-run-name")
            ui.space()
            ui.button(icon="contrast").props('flat round dense color=white aria-label="light or dark"').on(
                "click", js_handler="() => Quasar.Dark.toggle()"
            )
        with ui.element("div").classes("dcrl-page"):
            with ui.element("div").classes("dcrl-column"):
                with ui.element("section").classes("dcrl-card"):
                    self.heading = ui.label().classes("dcrl-heading")
                    self.about = ui.label().classes("dcrl-about")
                    self.map = ArchiveMap(self.picked, self.command)
                with ui.element("section").classes("dcrl-card dcrl-training"):
                    self.charts: curves.Charts | None = None
                    ui.timer(0, self.add_charts, once=True)  # after the map, whose scripts are smaller
            with ui.element("div").classes("dcrl-column"), ui.element("section").classes("dcrl-card"):
                self.panel = Panel(self.set_mode, self.set_seed, self.compare)
                self.player = Player(WELCOME, self.download)
        self.describe()
        ui.timer(LOOK_SECONDS, self.look)

    def add_charts(self) -> None:
        self.charts = curves.Charts(self.shown.metrics)

    def words(self) -> dict[str, str]:
        """What is shown, and whether all of it could be read."""
        found = self.shown.outline
        known = f"{found.algorithm} on " if found.algorithm else ""
        count, cells = int(found.occupied.sum()), len(found.occupied)
        evaluations = "" if found.evaluations is None else f" after {found.evaluations:,} evaluations"
        troubles = [f" — {trouble}" for trouble in (self.shown.trouble, self.shown.metrics_trouble) if trouble]
        return {
            "heading": f"{known}{self.run.task_name}",
            "about": f"{count:,} of {cells:,} cells filled{evaluations}{''.join(troubles)}",
        }

    def describe(self) -> None:
        words = self.words()
        self.heading.set_text(words["heading"])
        self.about.set_text(words["about"])
        elite = None if self.played is None else self.played.policies[-1].cell
        has_actor = self.shown.outline.actor_parameters is not None
        self.panel.describe(self.mode, elite, self.pinned, has_actor=has_actor)

    async def open(self, number: object) -> None:
        if not isinstance(number, int) or not 0 <= number < len(self.runs):
            return
        self.run, self.choice = self.runs[number], None
        self.clear(WELCOME)
        self.pin(None)
        if self.run.content.outline.actor_parameters is None:
            self.panel.modes.set_value("elite")
        self.update(self.run.content)
        await threads.io_bound(self.run.verify)

    def clear(self, hint: str) -> None:
        """Play nothing, and say why."""
        self.turn += 1
        self.played = None
        self.player.show("[]")
        self.player.say(hint)

    def look(self) -> None:
        """Follow a run that is still training."""
        if self.run.content is not self.shown:
            self.update(self.run.content)

    def update(self, content: Content) -> None:
        before, self.shown = self.shown, content
        if before.map != content.map:
            self.map.show(content.map)
        self.describe()
        if self.charts is not None:
            self.charts.show(content.metrics)

    async def set_mode(self, mode: object) -> None:
        if mode in MODES:
            self.mode = mode
            self.map.aim(mode != "elite")
            self.pin(None)
            await self.play()

    async def set_seed(self, seed: int) -> None:
        self.seed = seed
        await self.play()

    def pin(self, cell: int | None) -> None:
        self.pinned = cell
        self.map.pin(cell)
        self.describe()

    async def compare(self) -> None:
        """Keep the elite that is played beside the ones chosen from now on, or stop that."""
        if self.pinned is not None:
            self.pin(None)
            await self.play()
        elif self.played is not None and self.played.policies[-1].cell is not None:
            self.pin(self.played.policies[-1].cell)

    async def picked(self, sent: Any) -> None:
        """A place was chosen; what a browser sends is checked like any other input."""
        try:
            self.choice = place(sent, self.shown.outline)
        except (TypeError, ValueError, KeyError, OverflowError):
            return
        await self.play()

    async def play(self) -> None:
        """Simulate the choice in a thread; only the newest choice of this tab is shown."""
        if self.choice is None:
            return
        self.turn += 1
        turn, whole, (cell, target) = self.turn, self.shown.whole, self.choice
        choice = Choice(mode=self.mode, cell=cell, target=target, seed=self.seed, pinned=self.pinned)
        waiting = asyncio.create_task(self._say_soon(turn))
        try:
            newest = lambda: turn == self.turn  # a key held down chooses faster than a robot runs
            played = await threads.io_bound(simulated, whole, choice, turn, newest)
        except Exception as error:  # a task's own code may raise anything
            if turn == self.turn and not self.gone:
                self.clear(sentence(error))
                self.describe()
            if isinstance(error, ValueError):
                return
            raise
        finally:
            waiting.cancel()
        if turn == self.turn and not self.gone and played is not None:
            self.played = played
            self.player.show(played.text)
            self.describe()

    async def _say_soon(self, turn: int) -> None:
        await asyncio.sleep(0.4)
        if turn == self.turn and not self.gone:
            self.player.say("simulating …")

    async def download(self, sent: Any) -> None:
        """Make a file of what is played; what a browser sends is checked like any other input."""
        if self.played is None:
            return
        try:
            policy, format = downloads.wanted(sent, self.played)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError):
            return
        with self.panel.progress() as watch:
            try:
                file = await threads.io_bound(downloads.made, self.played, policy, format, watch)
            except (ValueError, OSError) as error:
                ui.notify(sentence(ValueError(str(error))), type="negative", multi_line=True, close_button=True)
                return
        if file is not None and not self.gone:
            ui.download.content(file.content, file.name)

    @property
    def gone(self) -> bool:
        """The tab was closed."""
        return self.client.id not in self.client.instances
