"""Checkpoints: the whole state of a run, from which it goes on as if it had never stopped.

    checkpoints/generation-00000123.json           what belongs together: counts, configuration, checksums
    checkpoints/generation-00000123.safetensors    archive, networks, optimisers, novelty
    checkpoints/replay-<first>-<last>.safetensors  the transitions inserted between two checkpoints

The JSON file is written last and makes a checkpoint one. Transitions are written once: a checkpoint names the
pieces that make up its replay buffer, and pieces that no checkpoint names are deleted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from dcrl import files
from dcrl.algorithms.algorithm import State
from dcrl.archive.archive import Archive
from dcrl.learners.replay import Replay
from dcrl.runs.upkeep import Upkeep

COUNTS = ("generation", "evaluations", "environment_steps", "invalid")
ARCHIVE = tuple(field.name for field in dataclasses.fields(Archive))
_PIECE = re.compile(r"replay-(\d{12,18})-(\d{12,18})\.safetensors", re.ASCII)
_OWN = re.compile(r"generation-\d{8,18}\.safetensors", re.ASCII)


class DamagedError(ValueError):
    """A checkpoint that is not what was written."""


class Checkpoints:
    """Owns a run's directory of checkpoints, and knows which pieces of the replay buffer in it are good."""

    def __init__(self, path: Path, kept: int = Upkeep.keep_checkpoints) -> None:
        self.path, self.kept = path, kept
        self._pieces: dict[str, str] = {}  # name: checksum; written or verified by this process, nothing else

    @property
    def any(self) -> bool:
        """Whether there is a checkpoint, intact or not."""
        return next(self.path.glob("generation-*.json"), None) is not None

    def save(self, state: State, about: dict[str, Any]) -> None:
        """Write a checkpoint; `about` is what must be equal when the run goes on."""
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise OSError(f"cannot write {self.path}: {error.strerror}") from None
        if state.replay is not None:
            self._save_replay(state.replay)
        name = f"generation-{state.generation:08d}"
        tensors = name + ".safetensors"
        digest = files.write_tensors(self.path / tensors, _tensors(state), {})
        counts = {count: getattr(state, count) for count in COUNTS}
        inserted = state.replay.inserted if state.replay is not None else 0
        content = {"format": files.FORMAT, **counts, "inserted": inserted, "about": about}
        content["files"] = {tensors: digest, **self._pieces}
        files.write_json(self.path / f"{name}.json", content | {"checksum": _checksum(content)})
        self._forget_old(state.generation)

    def _save_replay(self, replay: Replay) -> None:
        """Write the transitions that no piece holds yet, and drop the pieces that the ring has overwritten."""
        oldest = replay.inserted - replay.size
        lasts = {name: span[1] for name in self._pieces if (span := _span(name))}
        self._pieces = {name: digest for name, digest in self._pieces.items() if lasts[name] > oldest}
        first = max([oldest, *lasts.values()])
        if first < replay.inserted:
            name = f"replay-{first:012d}-{replay.inserted:012d}.safetensors"
            rows = np.arange(first, replay.inserted) % replay.capacity
            content = {part: array[rows] for part, array in replay.named_arrays.items()}
            self._pieces[name] = files.write_tensors(self.path / name, content, {})

    def _newest_first(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Every readable description of a checkpoint."""
        for path in sorted(self.path.glob("generation-*.json"), reverse=True):
            try:
                yield path, _description(path)
            except ValueError:
                continue

    def _forget_old(self, generation: int) -> None:
        """Delete all but the newest checkpoints up to this generation, and the files that those do not need.

        A later one was found damaged: the run went on from before it.
        """
        files.forget_unfinished(self.path, "*.*")
        known = [each for each in self._newest_first() if each[1]["generation"] <= generation]
        kept = known[: self.kept]
        needed = {path.name for path, _ in kept} | {name for _, content in kept for name in content["files"]}
        for path in self.path.iterdir():
            if path.name not in needed and (_PIECE.fullmatch(path.name) or path.name.startswith("generation-")):
                path.unlink()

    def load(self, blank: State, about: dict[str, Any], damaged: Callable[[str], None]) -> State | None:
        """The newest intact state, or None if there is none; `damaged` is told of newer ones that are not intact.

        `blank` gives the shapes. Another configuration or task than the checkpoint's is refused.
        """
        for path in sorted(self.path.glob("generation-*.json"), reverse=True):
            try:
                content = _description(path)
            except ValueError as error:
                damaged(str(error))
                continue
            differing = list(differences(content["about"], about))
            if differing:
                raise ValueError(
                    f"{path.parent.parent} cannot go on: {'; '.join(differing)}; "
                    "restore what it was started with, or start another run"
                )
            try:
                return self._restore(content, blank)
            except DamagedError as error:
                damaged(str(error))
        return None

    def _restore(self, content: dict[str, Any], blank: State) -> State:
        names = sorted(content["files"])
        for name in names:
            self._verify(name, content["files"][name])
        (own,) = (name for name in names if not _span(name))
        found = self._read(own)
        state = dataclasses.replace(blank, **{count: content[count] for count in COUNTS})
        archive = Archive(
            **{part: self._take(found, f"archive.{part}", own, getattr(blank.archive, part)) for part in ARCHIVE}
        )
        rest = jax.tree_util.tree_map_with_path(
            lambda path, leaf: self._take(found, _name(path), own, leaf), _rest(state)
        )
        replay = blank.replay
        if replay is not None:
            self._restore_replay(replay, [name for name in names if name != own], content["inserted"])
        self._pieces = {name: digest for name, digest in content["files"].items() if _span(name)}
        return dataclasses.replace(state, archive=archive, replay=replay, **rest)

    def _restore_replay(self, replay: Replay, names: list[str], inserted: int) -> None:
        """Put the pieces, in order and without a gap between them, back into the buffer."""
        spans = [span for name in names if (span := _span(name))]
        joined = all(before[1] == after[0] for before, after in itertools.pairwise(spans))
        first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        if not joined or last != inserted or first > max(0, inserted - replay.capacity):
            raise DamagedError(f"{self.path} does not hold all of the replay buffer up to transition {inserted}")
        for name, (begin, end) in zip(names, spans, strict=True):
            rows = self._read(name)
            expected = {part: (array.shape[1:], array.dtype) for part, array in replay.named_arrays.items()}
            if "state" in rows:
                expected["state"] = ((replay.state_size,), np.dtype(np.float32))
            for part, (shape, dtype) in expected.items():
                self._expect(rows, part, name, (end - begin, *shape), dtype)
            replay.restore(begin, rows)
        replay.inserted = inserted

    def _verify(self, name: str, digest: str) -> None:
        try:
            with open(self.path / name, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DamagedError(f"{self.path / name} cannot be read: {error.strerror}") from None
        if found != digest:
            raise DamagedError(f"{self.path / name} is damaged: its checksum is not the one it was written with")

    def _read(self, name: str) -> dict[str, NDArray[Any]]:
        try:
            return files.read_tensors(self.path / name)[0]
        except ValueError as error:
            raise DamagedError(str(error)) from None

    def _take(self, found: dict[str, NDArray[Any]], name: str, file: str, like: Any) -> Any:
        """A tensor by name, of the shape and the kind of what it replaces; what was empty may have grown."""
        shape = like.shape
        if name in found and like.ndim and not like.shape[0]:
            shape = (found[name].shape[:1] or (0,)) + like.shape[1:]
        array = self._expect(found, name, file, shape, like.dtype)
        return jax.numpy.asarray(array) if isinstance(like, jax.Array) else array

    def _expect(
        self, found: dict[str, NDArray[Any]], name: str, file: str, shape: tuple[int, ...], dtype: Any
    ) -> NDArray[Any]:
        if name not in found:
            raise DamagedError(f"{self.path / file} lacks the tensor {name!r}")
        array = found[name]
        if array.shape != shape or array.dtype != dtype:
            raise DamagedError(
                f"{self.path / file}: tensor {name!r} should be {dtype}{shape}, got {array.dtype}{array.shape}"
            )
        return array


def differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """What two JSON values differ in, one sentence a field."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted({*before, *now}):
            yield from differences(before.get(name), now.get(name), f"{where}.{name}" if where else name)
    elif before != now:
        yield f"{where} was {before!r} and is now {now!r}"


def _description(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = files.read_json(path)
    counts_fit = isinstance(content, dict) and all(_is_count(content.get(n)) for n in (*COUNTS, "inserted"))
    if not counts_fit or content.get("format") != files.FORMAT:
        raise ValueError(f"{path} does not describe a checkpoint of format {files.FORMAT}")
    if content.pop("checksum", None) != _checksum(content):
        raise ValueError(f"{path} is damaged: its checksum is not the one it was written with")
    names = content.get("files")
    known = isinstance(names, dict) and all(
        isinstance(d, str) and (_span(n) or _OWN.fullmatch(n)) for n, d in names.items()
    )
    own = [name for name in names if not _span(name)] if isinstance(names, dict) else []
    if not known or len(own) != 1 or not isinstance(content.get("about"), dict):
        raise ValueError(f"{path} does not name its files")
    return content


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _span(name: str) -> tuple[int, int] | None:
    """Which insertions a piece of the replay buffer holds; None for another file."""
    match = _PIECE.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def _tensors(state: State) -> dict[str, NDArray[Any]]:
    archive = {f"archive.{part}": getattr(state.archive, part) for part in ARCHIVE}
    leaves, _ = jax.tree_util.tree_flatten_with_path(_rest(state))
    return archive | {_name(path): np.asarray(leaf) for path, leaf in leaves}


def _rest(state: State) -> dict[str, Any]:
    """The parts that are trees of arrays."""
    return {part: getattr(state, part) for part in ("learned", "novelty", "search")}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
