"""The coordinator of a sweep on a cluster: an actor on the machine that started it, to which the jobs report."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dcrl.runs.lock import Lock
from dcrl.sweeps.job import Order
from dcrl.sweeps.mirror import Directory, Stamp, fetch, push
from dcrl.sweeps.node import PATIENCE, POLL_SECONDS

PUSH_SECONDS = 2.0  # between two looks at the files to collect
PREFIX = "dcrl-collect-"


class Coordinator:
    """An actor on the machine of the sweep: hears which jobs start, tells them when to stop, receives their files."""

    def __init__(self) -> None:
        self._news: list[tuple[int, str]] = []
        self._stopping = asyncio.Event()
        self._locks: dict[int, Lock] = {}

    async def started(self, number: int, where: str) -> None:
        self._news.append((number, where))

    async def news(self) -> list[tuple[int, str]]:
        news, self._news = self._news, []
        return news

    async def stop(self) -> None:
        self._stopping.set()

    async def stopping(self) -> None:
        """Returns when the jobs are to stop."""
        await self._stopping.wait()

    async def hold(self, number: int, run: Path) -> None:
        """Lock a run of this machine whose files come from elsewhere."""
        run.mkdir(parents=True, exist_ok=True)
        self._locks[number] = Lock(run)

    async def release(self, number: int) -> None:
        lock = self._locks.pop(number, None)
        if lock is not None:
            lock.release()

    async def listing(self, output: Path, place: Path) -> dict[str, Stamp]:
        return Directory(output).listing(place)

    async def read(self, output: Path, name: str, offset: int) -> bytes:
        return Directory(output).read(name, offset)

    async def write(self, output: Path, name: str, offset: int, data: bytes, stamp: Stamp | None) -> None:
        Directory(output).write(name, offset, data, stamp)

    async def remove(self, output: Path, names: list[str]) -> None:
        Directory(output).remove(names)


class Remote:
    """The output directory on the machine of the sweep, as seen from a node."""

    def __init__(self, coordinator: Any, output: Path, get: Callable[[Any], Any]) -> None:
        self._coordinator, self._output, self._get = coordinator, output, get

    def listing(self, place: Path) -> dict[str, Stamp]:
        found: dict[str, Stamp] = self._get(self._coordinator.listing.remote(self._output, place))
        return found

    def read(self, name: str, offset: int) -> bytes:
        data: bytes = self._get(self._coordinator.read.remote(self._output, name, offset))
        return data

    def write(self, name: str, offset: int, data: bytes, stamp: Stamp | None) -> None:
        self._get(self._coordinator.write.remote(self._output, name, offset, data, stamp))

    def remove(self, names: Iterable[str]) -> None:
        self._get(self._coordinator.remove.remote(self._output, list(names)))


@contextmanager
def collecting(
    order: Order, number: int, coordinator: Any, get: Callable[[Any], Any], stopping: Callable[[], bool]
) -> Iterator[tuple[Order, Callable[[], None]]]:
    """A directory of this node to run an order in, and the function that sends its files to the coordinator.

    It begins with the files that the coordinator has, and is removed at the end. `get` waits for its answer.
    """
    _hold(order, number, coordinator, get, stopping)
    store = Remote(coordinator, order.output, get)
    _remove_left_behind()
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        here = order.moved(directory)
        sent = fetch(here, store)
        last = time.monotonic()

        def look() -> None:
            nonlocal last
            if time.monotonic() - last >= PUSH_SECONDS:
                push(here, store, sent)
                last = time.monotonic()

        try:
            yield here, look
        finally:
            push(here, store, sent)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _hold(order: Order, number: int, coordinator: Any, get: Callable[[Any], Any], stopping: Callable[[], bool]) -> None:
    """Lock the run on the machine of the sweep, as soon as an attempt that was lost has let it go."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            get(coordinator.hold.remote(number, order.run))
            return
        except ValueError:
            if stopping() or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def _remove_left_behind() -> None:
    """Remove the directories of processes that were killed; what they held has been collected."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and Path("/proc").exists() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)
