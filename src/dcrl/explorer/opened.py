"""A run that is being looked at, also while it is still training."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path

from dcrl.explorer.wire import archive_text
from dcrl.runs.metrics import read_metrics
from dcrl.runs.repertoire import Repertoire, load
from dcrl.runs.trust import check_task
from dcrl.tasks.catalogue import BUILT_IN
from dcrl.types import Floats


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a run held when it was last read. `trouble` says why a newer state could not be read."""

    repertoire: Repertoire
    map: str  # of the repertoire, as text for the browser
    metrics: dict[str, Floats]
    trouble: str = ""


class Opened:
    """Owns the newest readable content of a run's directory or of a repertoire's file."""

    def __init__(self, path: Path, *, trust: bool) -> None:
        self.path, self._trust = path, trust
        self._archive = path / "archive.safetensors" if path.is_dir() else path
        self._reading = threading.Lock()
        self._seen = self._stamps()
        repertoire = self._load()
        self.content = Content(repertoire=repertoire, map=archive_text(repertoire), metrics=self._metrics())

    @property
    def label(self) -> str:
        """What tells this run from others: the last parts of its path."""
        return "/".join(self.path.resolve().parts[-3:])

    def refresh(self) -> None:
        """Read again what changed on disk; what cannot be read leaves the content as it was, with a note."""
        with self._reading:
            now = self._stamps()
            if now == self._seen:
                return
            old = self.content
            try:
                new = replace(old, metrics=self._metrics(), trouble="")
                if now[:2] != self._seen[:2]:
                    repertoire = self._load()
                    new = replace(new, repertoire=repertoire, map=archive_text(repertoire))
            except ValueError as error:
                new = replace(old, trouble=str(error))
            self.content, self._seen = new, now

    def _load(self) -> Repertoire:
        """The repertoire; refuses one whose task is code that nobody vouched for, also when the file has changed."""
        found = load(self.path)
        check_task(found.task, self.path, trust=self._trust)
        if found.task not in BUILT_IN:
            from dcrl.tasks import registry  # here: it loads JAX and MuJoCo, which a map can be drawn without

            registry.get(found.task)
        return found

    def _metrics(self) -> dict[str, Floats]:
        path = self._archive.with_name("metrics.csv")
        return read_metrics(path) if self._archive.name == "archive.safetensors" and path.is_file() else {}

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Files are replaced, never written into, so a new state is another inode or time."""
        return tuple(_stamp(self._archive.with_name(name)) for name in (self._archive.name, *BESIDE))


BESIDE = ("actor.safetensors", "metrics.csv")


def open_runs(paths: tuple[Path, ...], *, trust: bool) -> list[Opened]:
    """All runs; refuses what is none, what is damaged, and a task whose code nobody vouched for."""
    if not paths:
        raise ValueError("give at least one run, such as runs/walker2d_uni/dcrl_me/seed-0")
    return [Opened(path, trust=trust) for path in paths]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
