"""A run's files brought from the node that writes them to the machine of the sweep, and back when it is resumed.

`dcrl resume` can continue from a copy at any time: first a checkpoint's tensors are sent, then the metrics, which
must reach at least as far, then the JSON file that completes the checkpoint.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeAlias

from dcrl.runs.started import ARCHIVE, METRICS
from dcrl.sweeps.job import Order

COMPLETING = 2  # when the file is sent that completes a checkpoint
PIECE = 4 * 2**20  # bytes sent at a time
Stamp: TypeAlias = tuple[int, int]  # size in bytes, time of the last change in nanoseconds


class Store(Protocol):
    """An output directory, here or on another machine; names are relative to it."""

    def listing(self, place: Path) -> dict[str, Stamp]: ...
    def read(self, name: str, offset: int) -> bytes: ...
    def write(self, name: str, offset: int, data: bytes, stamp: Stamp | None) -> None:
        """Write a piece; the one with a stamp is the last, and completes the file."""
        ...

    def remove(self, names: Iterable[str]) -> None: ...


class Directory:
    """An output directory of this machine."""

    def __init__(self, output: Path) -> None:
        self.output = output

    def listing(self, place: Path) -> dict[str, Stamp]:
        """The files of a run and its logs, without temporary ones. A checkpoint that is being written is left out."""
        run = self.output / place
        complete = set((run / "checkpoints").glob("*.json"))
        found = {}
        for path in (*run.rglob("*"), *run.parent.glob(f"{run.name}*.log"), *run.parent.glob(f"{run.name}*.err")):
            late = path.suffix == ".json" and path.parent.name == "checkpoints" and path not in complete
            if late or any(part.startswith(".") for part in path.relative_to(self.output).parts):
                continue
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            if path.is_file():
                found[str(path.relative_to(self.output))] = (status.st_size, status.st_mtime_ns)
        return found

    def read(self, name: str, offset: int) -> bytes:
        with open(self._path(name), "rb") as file:
            file.seek(offset)
            return file.read(PIECE)

    def write(self, name: str, offset: int, data: bytes, stamp: Stamp | None) -> None:
        path = self._path(name)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(data)
            if stamp is not None:
                file.flush()
                os.fsync(file.fileno())
        if stamp is not None:
            os.utime(temporary, ns=(stamp[1], stamp[1]))
            temporary.replace(path)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{name!r} is not below the output directory")
        return self.output / path


def fetch(order: Order, store: Store) -> dict[str, Stamp]:
    """Copy a run from the store to the order's output directory; what the store holds.

    The metrics of a run that was lost before its first checkpoint are left out: it starts again.
    """
    here = Directory(order.output)
    found = store.listing(order.place)
    metrics, archive = (str(order.place / name) for name in (METRICS, ARCHIVE))
    resumes = archive in found or any(_rank(name)[0] == COMPLETING for name in found)
    for name in sorted(found, key=_rank):
        if resumes or name != metrics:
            _copy(name, found[name], store, here)
    return found


def push(order: Order, store: Store, sent: dict[str, Stamp]) -> None:
    """Copy to the store what has changed since `sent`, which is brought up to date, and remove what is gone."""
    here = Directory(order.output)
    found = here.listing(order.place)
    for name in sorted(found, key=_rank):
        if sent.get(name) != found[name]:
            try:
                _copy(name, found[name], here, store)
            except FileNotFoundError:  # replaced by a newer checkpoint: the next call sends that
                return
            sent[name] = found[name]
    gone = [name for name in sent if name not in found]
    store.remove(gone)
    for name in gone:
        del sent[name]


def _copy(name: str, stamp: Stamp, source: Store, target: Store) -> None:
    offset = 0
    while True:
        piece = source.read(name, offset)
        last = len(piece) < PIECE
        target.write(name, offset, piece, stamp if last else None)
        if last:
            return
        offset += len(piece)


def _rank(name: str) -> tuple[int, str]:
    path = Path(name)
    if path.parent.name == "checkpoints":
        return (COMPLETING if path.suffix == ".json" else 0), name
    return (1 if path.suffix in (".csv", ".json") else 3), name
