"""The page: a map to choose on, robots that move, numbers, and the curves of training. One view a browser tab."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import run as threads
from nicegui import ui

from dcrl.explorer import behaviour, curves, wire
from dcrl.explorer.behaviour import MODES, Mode
from dcrl.explorer.elements import ArchiveMap, Player, first, listed, style
from dcrl.explorer.opened import Content, Opened
from dcrl.repertoires.repertoire import Repertoire

LOOK_SECONDS = 1.0  # how often a tab looks whether its run has changed
LARGEST_SEED = 2**32 - 1
MODE_NAMES = {"elite": "elite", "actor": "actor", "both": "side by side"}
WELCOME = "Choose a place on the map: click, or use the arrow keys."


class View:
    """What one browser tab shows. Nothing of it is shared with other tabs but the runs themselves."""

    def __init__(self, runs: Sequence[Opened]) -> None:
        self.runs, self.run = runs, runs[0]
        self.shown: Content = self.run.content
        self.mode: Mode = "elite"
        self.seed = 0
        self.choice: tuple[int | None, list[float]] | None = None
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
                    self.map = ArchiveMap(self.picked)
                with ui.element("section").classes("dcrl-card dcrl-training"):
                    self.charts: curves.Charts | None = None
                    ui.timer(0, self.add_charts, once=True)  # after the map, whose scripts are smaller
            with ui.element("div").classes("dcrl-column"), ui.element("section").classes("dcrl-card"):
                self._controls()
                self.player = Player(WELCOME)
        self.describe()
        ui.timer(LOOK_SECONDS, self.look)

    def add_charts(self) -> None:
        self.charts = curves.Charts(self.shown.metrics)

    def _controls(self) -> None:
        with ui.row().classes("dcrl-modes"):
            self.modes = ui.toggle(MODE_NAMES, value="elite", on_change=lambda event: self.set_mode(event.value))
            self.modes.props("no-caps dense unelevated toggle-color=primary")
            self.no_actor = ui.label("this run has no actor").classes("dcrl-about")
            ui.space()
            self.seeds = ui.number(
                "start state (seed)", value=0, min=0, max=LARGEST_SEED, precision=0, on_change=self.set_seed
            )
            self.seeds.props("dense outlined").classes("dcrl-seed")
            ui.button("re-roll", icon="casino", on_click=self.reroll).props("no-caps unelevated dense").tooltip(
                "another start state of the same policy"
            )

    def words(self) -> dict[str, str]:
        """What is shown, and whether all of it could be read."""
        found = self.shown.outline
        known = f"{found.algorithm} on " if found.algorithm else ""
        count, cells = int(found.occupied.sum()), len(found.occupied)
        evaluations = "" if found.evaluations is None else f" after {found.evaluations:,} evaluations"
        troubles = [f" — {trouble}" for trouble in (self.shown.trouble, self.shown.metrics_trouble) if trouble]
        return {
            "heading": f"{known}{found.task}",
            "about": f"{count:,} of {cells:,} cells filled{evaluations}{''.join(troubles)}",
        }

    def describe(self) -> None:
        words = self.words()
        self.heading.set_text(words["heading"])
        self.about.set_text(words["about"])
        has_actor = self.shown.outline.actor_parameters is not None
        self.no_actor.set_visibility(not has_actor)
        self.modes.set_visibility(has_actor)

    async def open(self, number: object) -> None:
        if not isinstance(number, int) or not 0 <= number < len(self.runs):
            return
        self.run, self.choice = self.runs[number], None
        self.turn += 1
        self.player.show("[]")
        self.player.say(WELCOME)
        if self.run.content.outline.actor_parameters is None:
            self.modes.set_value("elite")
        self.update(self.run.content)
        await threads.io_bound(self.run.verify)

    def look(self) -> None:
        """Follow a run that is still training."""
        if self.run.content is not self.shown:
            self.update(self.run.content)

    def update(self, content: Content) -> None:
        before, self.shown = self.shown, content
        if before.outline is not content.outline:
            self.map.show(content.map)
        self.describe()
        if self.charts is not None:
            self.charts.show(content.metrics)

    async def set_mode(self, mode: object) -> None:
        if mode in MODES:
            self.mode = mode
            self.map.aim(mode != "elite")
            await self.play()

    async def set_seed(self) -> None:
        value = self.seeds.value
        if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= LARGEST_SEED:
            self.seed = int(value)
            await self.play()

    def reroll(self) -> None:
        self.seeds.set_value((self.seed + 1) % (LARGEST_SEED + 1))

    async def picked(self, sent: Any) -> None:
        """A place was chosen; what a browser sends is checked like any other input."""
        try:
            self.choice = _choice(sent, self.shown.outline)
        except (TypeError, ValueError, KeyError, OverflowError):
            return
        await self.play()

    async def play(self) -> None:
        """Simulate the choice in a thread; only the newest choice of this tab is shown."""
        if self.choice is None:
            return
        self.turn += 1
        turn, whole, (cell, target), seed = self.turn, self.shown.whole, self.choice, self.seed
        waiting = asyncio.create_task(self._say_soon(turn))
        try:
            newest = lambda: turn == self.turn  # a key held down chooses faster than a robot runs
            text = await threads.io_bound(simulated, whole, self.mode, cell, target, seed, turn, newest)
        except Exception as error:  # a task's own code may raise anything
            if turn == self.turn and not self.gone:
                self.player.show("[]")
                self.player.say(_sentence(error))
            if isinstance(error, ValueError):
                return
            raise
        finally:
            waiting.cancel()
        if turn == self.turn and not self.gone and text is not None:
            self.player.show(text)

    async def _say_soon(self, turn: int) -> None:
        await asyncio.sleep(0.4)
        if turn == self.turn and not self.gone:
            self.player.say("simulating …")

    @property
    def gone(self) -> bool:
        """The tab was closed."""
        return self.client.id not in self.client.instances


def simulated(
    whole: Callable[[], Repertoire],
    mode: Mode,
    cell: int | None,
    target: list[float],
    seed: int,
    turn: int,
    wanted: Callable[[], bool] = lambda: True,
) -> str | None:
    """The motions that a choice stands for, as text for the player; None if they are no longer wanted."""
    found = whole()  # takes a while the first time; before the simulator is loaded, so that damage is reported at once
    if not wanted():
        return None
    from dcrl.rendering.motion import shapes  # here: it loads JAX and MuJoCo, which a map can be drawn without

    robot = shapes(found.task)
    played = []
    for one in behaviour.chosen(found, mode, cell, target):
        motion = behaviour.play(one, seed)
        played.append(wire.motion_message(found, one, motion, robot, seed))
    return listed(played, turn)


def _choice(sent: Any, found: Repertoire) -> tuple[int | None, list[float]]:
    cell, target = sent["cell"], [float(value) for value in sent["target"]]
    if len(target) != found.space.size or not all(map(math.isfinite, target)):
        raise ValueError(f"a target has {found.space.size} finite numbers, got {target}")
    return None if cell is None else int(cell), target


def _sentence(error: Exception) -> str:
    text = str(error) if isinstance(error, ValueError) else f"simulating failed with {type(error).__name__}: {error}"
    return text[:1].upper() + text[1:].rstrip(".") + "."
