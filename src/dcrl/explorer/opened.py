"""A run that is being looked at, also while it is still training."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcrl.explorer.values import cell_values, re_evaluation_file
from dcrl.explorer.wire import archive_text
from dcrl.repertoires.load import load, outline
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.trust import usable_task
from dcrl.runs.metrics import read_metrics
from dcrl.tasks.catalogue import BUILT_IN
from dcrl.types import Floats


class Whole:
    """A run's repertoire, read when somebody wants to see it move; `outline` is what is on the map already."""

    def __init__(self, path: Path, outline: Repertoire, found: Repertoire | None = None) -> None:
        self._path, self._outline, self._found = path, outline, found
        self._reading = threading.Lock()

    def __call__(self) -> Repertoire:
        """The repertoire; refuses a file that is damaged, or no longer the one on the map."""
        with self._reading:
            if self._found is None:
                found = load(self._path)
                if not _same(found, self._outline):
                    raise ValueError(f"{self._path} has changed and is no longer what is on the map")
                self._found = replace(found, task=self._outline.task)
            return self._found


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a run held when it was last read. What could not be read is said in `trouble` and `metrics_trouble`."""

    outline: Repertoire  # perhaps without its policies
    whole: Whole
    map: str  # of the outline, as text for the browser
    metrics: dict[str, Floats]
    trouble: str = ""
    metrics_trouble: str = ""


class Opened:
    """Owns the newest readable content of a run's directory or of a repertoire's file."""

    def __init__(self, path: Path, *, trust: bool, task: str | None = None) -> None:
        self.path, self._trust, self._task = path, trust, task
        self._archive = path / "archive.safetensors" if path.is_dir() else path
        self._reading = threading.Lock()
        self._seen = self._stamps()
        found = self._checked(outline(path))
        whole = Whole(path, found)
        self.content = Content(outline=found, whole=whole, map=self._map(found), metrics=self._metrics())

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
            new = self.content
            if now[:-1] != self._seen[:-1]:
                try:
                    found = self._checked(load(self.path))
                    whole = Whole(self.path, found, found)
                    new = replace(new, outline=found, whole=whole, map=self._map(found), trouble="")
                except UNREADABLE as error:
                    new = replace(new, trouble=f"{error}; showing the map that was there before")
            try:
                new = replace(new, metrics=self._metrics(), metrics_trouble="")
            except UNREADABLE as error:
                new = replace(new, metrics_trouble=str(error))
            self.content, self._seen = new, now

    def verify(self) -> None:
        """Read all of it; damage that its map does not show is noted."""
        content = self.content
        try:
            content.whole()
        except UNREADABLE as error:
            with self._reading:
                if self.content is content:
                    self.content = replace(content, trouble=content.trouble or str(error))

    def _checked(self, found: Repertoire) -> Repertoire:
        """With its task as it is found here; refuses a task that is code nobody vouched for, also in a changed file."""
        self.task_name = found.task
        if found.task in BUILT_IN:
            return found
        from dcrl.tasks import registry  # here: it loads JAX and MuJoCo, which a map can be drawn without

        task = usable_task(found.task, self.path, given=self._task, trusted=self._trust)
        self.task_name = registry.get(task).name  # of one's own task; `task` is its file and its object
        return replace(found, task=task)

    def _map(self, found: Repertoire) -> str:
        return archive_text(found, cell_values(self.path, found))

    def _metrics(self) -> dict[str, Floats]:
        path = self._archive.with_name("metrics.csv")
        return read_metrics(path) if self._archive.name == "archive.safetensors" and path.is_file() else {}

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Files are replaced, never written into, so a new state is another inode or time."""
        actor, metrics = (self._archive.with_name(name) for name in ("actor.safetensors", "metrics.csv"))
        return tuple(_stamp(path) for path in (self._archive, actor, re_evaluation_file(self.path), metrics))


UNREADABLE = (ValueError, OSError, MemoryError)
SEEN = ("centroids", "fitness", "descriptor")


def open_runs(paths: tuple[Path, ...], *, trust: bool, task: str | None = None) -> list[Opened]:
    """All runs; refuses what is none, what is cut short or makes no sense, and a task that nobody vouched for.

    `task` is where the runs' own task is now, as `file.py:object`, if it was moved.
    """
    if not paths:
        raise ValueError("give at least one run, such as runs/walker2d_uni/dcrl_me/seed-0")
    return [Opened(path, trust=trust, task=task) for path in paths]


def _same(one: Repertoire, other: Repertoire) -> bool:
    """Whether they hold the same elites, as far as their descriptors and fitness tell."""
    same = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in SEEN)
    return same and one.layers == other.layers


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
