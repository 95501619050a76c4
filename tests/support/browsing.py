"""What people do on the explorer's page, what they read there, and a run that is damaged."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.types import Evaluation, Floats
from support.commands import COMMAND, HEEDING_INTERRUPTS

HIDDEN = (16, 16)
HOSTILE = '</script><img src=x onerror="window.hacked = 1">'
MENU_ATTEMPTS, MENU_MILLISECONDS = 6, 5_000


@dataclass(frozen=True)
class Server:
    """`dcrl explore` in a process of its own."""

    address: str
    process: subprocess.Popen[str]

    def stop(self) -> str:
        """End it with Ctrl-C; its stderr."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=30)[1]


@contextmanager
def serving(run: Path, *arguments: str | Path, port: int = 0) -> Iterator[Server]:
    """The server of a run and others, ended with Ctrl-C if a test did not; nothing may leave a word on its stderr."""
    line = ["explore", run, *arguments, "--port", port, "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, *map(str, line)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=run.parent,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        match = re.search(r"at (http://127\.0\.0\.1:\d+/)", said)
        assert match, said or process.communicate()
        server, error = Server(match[1], process), ""
        try:
            yield server
        finally:  # also when a test has failed, which would wait for the server otherwise
            if process.poll() is None:
                error = server.stop()
    assert (process.returncode, error) == (0, ""), (process.returncode, error)
    assert not (run.parent / ".nicegui").exists()


def click_at(page: Any, place: Floats) -> None:
    """Click on the map where a descriptor is."""
    where = page.evaluate(
        "place => { const p = new DOMPoint(...place).matrixTransform("
        "document.querySelector('.dcrl-cells').getScreenCTM()); return [p.x, p.y]; }",
        [float(value) for value in place[:2]],
    )
    page.mouse.click(*where)


def shown(page: Any, kind: str, what: str, seed: int, title: str = "") -> float:
    """A number beside the player, once it belongs to the motion of this seed."""
    page.wait_for_selector(f".dcrl-readout:has-text('seed {seed}'):has-text('{title}')")
    return float(page.get_attribute(f"[data-readout='{kind}.{what}']", "data-value"))


def assert_shows(page: Any, kind: str, played: Evaluation, seed: int, title: str = "") -> None:
    """Fitness and descriptor at the end are those of `dcrl.rollout`, to the last bit."""
    assert np.float32(shown(page, kind, "fitness.end", seed, title)) == played.fitness[0]
    reached = [shown(page, kind, f"descriptor.{i}.end", seed) for i in range(played.descriptor.shape[1])]
    np.testing.assert_array_equal(np.float32(reached), played.descriptor[0])


def choose_run(page: Any, number: int) -> None:
    """Open the menu of runs and choose one; once more if the page, still being filled, has closed the menu."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

    page.wait_for_selector(".dcrl-chart canvas")
    item = page.locator(".q-menu .q-item").nth(number)
    for _ in range(MENU_ATTEMPTS - 1):
        page.get_by_role("combobox", name="run").click()
        try:
            return item.click(timeout=MENU_MILLISECONDS)
        except PlaywrightTimeoutError:
            page.keyboard.press("Escape")
    page.get_by_role("combobox", name="run").click()
    return item.click()


def save_damaged(path: Path, found: Repertoire) -> None:
    """A file of which one bit of a policy has turned."""
    save(path, found)
    content = bytearray(path.read_bytes())
    content[content.index(found.genotype.tobytes()) + 5] ^= 1
    path.write_bytes(content)
