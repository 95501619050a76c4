"""The controls above the player: what to play, from which start state, and what to compare it with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nicegui import ui

from dcrl.explorer.playing import Mode

LARGEST_SEED = 2**32 - 1
MODE_NAMES = {"elite": "elite", "actor": "actor", "both": "side by side"}
LOOK_SECONDS = 0.3  # how often the number of pictures drawn is shown


class Panel:
    """Calls `set_mode` with what the browser sent, which may be anything, `set_seed` with a seed, and `compare`."""

    def __init__(
        self,
        set_mode: Callable[[object], Awaitable[None]],
        set_seed: Callable[[int], Awaitable[None]],
        compare: Callable[[], Awaitable[None]],
    ) -> None:
        self._seed, self._set_seed = 0, set_seed
        with ui.row().classes("dcrl-modes"):
            self.modes = ui.toggle(MODE_NAMES, value="elite", on_change=lambda event: set_mode(event.value))
            self.modes.props("no-caps dense unelevated toggle-color=primary")
            self.no_actor = ui.label("this run has no actor").classes("dcrl-about")
            self.comparing = ui.button("compare", icon="compare_arrows", on_click=compare)
            self.comparing.props("no-caps outline dense").classes("dcrl-compare")
            ui.space()
            wrong = f"a whole number from 0 to {LARGEST_SEED:,}"
            self.seeds = ui.number(
                "start state (seed)", value=0, step=1, validation={wrong: _is_seed}, on_change=self._changed
            )
            self.seeds.props("dense outlined hide-bottom-space").classes("dcrl-seed")
            for event in ("blur", "keydown.enter"):
                self.seeds.on(event, self._restore)
            ui.button("re-roll", icon="casino", on_click=self.reroll).props("no-caps unelevated dense").tooltip(
                "another start state of the same policy"
            )
        self.drawing = ui.label().classes("dcrl-about dcrl-drawing")
        self.drawing.set_visibility(False)

    def describe(self, mode: Mode, elite: int | None, pinned: int | None, *, has_actor: bool) -> None:
        """Fit the controls to what is shown: `elite` is the cell of the elite that is played."""
        self.no_actor.set_visibility(not has_actor)
        self.modes.set_visibility(has_actor)
        self.comparing.set_visibility(mode == "elite")
        self.comparing.set_enabled(pinned is not None or elite is not None)
        self.comparing.set_icon("compare_arrows" if pinned is None else "close")
        self.comparing.set_text("compare" if pinned is None else f"compared with cell {pinned}")
        hint = "keep this elite next to the ones you choose next" if pinned is None else "stop comparing"
        self.comparing.props["title"] = hint

    def reroll(self) -> None:
        self.seeds.set_value((self._seed + 1) % (LARGEST_SEED + 1))

    async def _changed(self) -> None:
        if _is_seed(self.seeds.value):
            self._seed = int(self.seeds.value)
            await self._set_seed(self._seed)

    def _restore(self) -> None:
        """What is no seed does not stay in the field while another one plays."""
        if not _is_seed(self.seeds.value):
            self.seeds.set_value(self._seed)

    @contextmanager
    def progress(self) -> Iterator[Callable[[int, int], None]]:
        """Show that a file is being made; the function given is called with pictures drawn, from any thread."""
        drawn = (0, 0)

        def watch(done: int, of: int) -> None:
            nonlocal drawn
            drawn = done, of

        def show() -> None:
            done, of = drawn
            self.drawing.set_text(f"drawing picture {done:,} of {of:,} …" if of else "making the file …")

        show()
        self.drawing.set_visibility(True)
        timer = ui.timer(LOOK_SECONDS, show)
        try:
            yield watch
        finally:
            timer.cancel()  # not deleted: the tab may be gone, and all elements with it
            self.drawing.set_visibility(False)


def _is_seed(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= LARGEST_SEED and value == int(value)
