"""Checkpoints: the whole state of a run, from which it is resumed as if it had never been interrupted.

`checkpoint_files.py` lists the files. The JSON file is written last and makes a checkpoint valid. Transitions
are written once: a checkpoint names the pieces that make up its replay buffer, and pieces that no checkpoint
names are deleted.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from dcrl import files
from dcrl.algorithms.state import State
from dcrl.archive.archive import Archive
from dcrl.learners.replay import Replay
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.checkpoint_files import COUNTS, DamagedError, Tensors, checksum, description, span, verify
from dcrl.runs.config import completed, differences
from dcrl.runs.manifest import made_with

ARCHIVE = tuple(field.name for field in dataclasses.fields(Archive))


class Checkpoints:
    """Owns a run's directory of checkpoints, and knows which pieces of the replay buffer in it are intact."""

    def __init__(self, path: Path, kept: int = CheckpointConfig.keep_checkpoints) -> None:
        self.path, self.kept = path, kept
        self._pieces: dict[str, str] = {}  # name: checksum; written or verified by this process, nothing else

    @property
    def any(self) -> bool:
        """Whether there is a checkpoint, intact or not."""
        return next(self.path.glob("generation-*.json"), None) is not None

    def save(self, state: State, about: dict[str, Any]) -> None:
        """Write a checkpoint; `about` is what must be equal when the run is resumed."""
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise OSError(f"cannot write {self.path}: {error.strerror}") from None
        self._save_replay(state.replay)
        name = f"generation-{state.generation:08d}"
        tensors = name + ".safetensors"
        digest = files.write_tensors(self.path / tensors, _tensors(state), {})
        counts = {count: getattr(state, count) for count in COUNTS}
        content = {"format": files.FORMAT, **counts, "inserted": state.replay.inserted, "about": about}
        content["files"] = {tensors: digest, **self._pieces}
        files.write_json(self.path / f"{name}.json", content | {"checksum": checksum(content)})
        self._delete_old(state.generation)

    def _save_replay(self, replay: Replay) -> None:
        """Write the transitions that no piece holds yet, and drop the pieces that the ring has overwritten."""
        oldest = replay.inserted - replay.size
        lasts = {name: piece[1] for name in self._pieces if (piece := span(name))}
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
                yield path, description(path)
            except ValueError:
                continue

    def _delete_old(self, generation: int) -> None:
        """Delete all but the newest checkpoints up to this generation, and the files that those do not need.

        Later checkpoints are deleted too: they were damaged, and the run was resumed from an earlier one.
        """
        files.forget_unfinished(self.path, "*.*")
        known = [each for each in self._newest_first() if each[1]["generation"] <= generation]
        kept = known[: self.kept]
        needed = {path.name for path, _ in kept} | {name for _, content in kept for name in content["files"]}
        for path in self.path.iterdir():
            if path.name not in needed and (span(path.name) or path.name.startswith("generation-")):
                path.unlink()

    def load(self, empty: State, about: dict[str, Any], warn: Callable[[str], None]) -> State | None:
        """The newest intact state, or None if there is none; `warn` is called for newer ones that are damaged.

        `empty` gives the shapes. Another configuration or task than the checkpoint's is refused.
        """
        for path in sorted(self.path.glob("generation-*.json"), reverse=True):
            try:
                content = description(path)
            except ValueError as error:
                warn(str(error))
                continue
            before = content["about"]
            if isinstance(before, dict) and "configuration" in before:
                before = before | {"configuration": completed(before["configuration"])}
            differing = [str(difference) for difference in differences(before, about)]
            if differing:
                raise ValueError(
                    f"{path.parent.parent} cannot be resumed: {'; '.join(differing)}; "
                    f"restore what it was started with ({made_with(self.path.parent)}), or start another run"
                )
            try:
                return self._restore(content, empty)
            except DamagedError as error:
                warn(str(error))
        return None

    def _restore(self, content: dict[str, Any], empty: State) -> State:
        for name in sorted(content["files"]):
            verify(self.path / name, content["files"][name])
        pieces = sorted(name for name in content["files"] if span(name))
        (own,) = content["files"].keys() - set(pieces)
        found = Tensors(self.path / own)
        archive = Archive(**{part: _take(found, f"archive.{part}", getattr(empty.archive, part)) for part in ARCHIVE})
        trees = jax.tree_util.tree_map_with_path(lambda path, leaf: _take(found, _name(path), leaf), _trees(empty))
        self._restore_replay(empty.replay, pieces, content["inserted"])
        self._pieces = {name: content["files"][name] for name in pieces}
        counts = {count: content[count] for count in COUNTS}
        return dataclasses.replace(empty, archive=archive, **counts, **trees)

    def _restore_replay(self, replay: Replay, names: list[str], inserted: int) -> None:
        """Put the pieces, in order and without a gap between them, back into the buffer."""
        spans = [piece for name in names if (piece := span(name))]
        joined = all(before[1] == after[0] for before, after in itertools.pairwise(spans))
        first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        if not joined or last != inserted or first > max(0, inserted - replay.capacity):
            raise DamagedError(f"{self.path} does not hold all of the replay buffer up to transition {inserted}")
        for name, (begin, end) in zip(names, spans, strict=True):
            found = Tensors(self.path / name)
            expected = {part: (array.shape[1:], array.dtype) for part, array in replay.named_arrays.items()}
            if "state" in found:
                expected["state"] = ((replay.state_size,), np.dtype(np.float32))
            rows = {part: found.take(part, (end - begin, *shape), dtype) for part, (shape, dtype) in expected.items()}
            replay.restore(begin, rows)
        replay.inserted = inserted


def _take(found: Tensors, name: str, like: Any) -> Any:
    """A tensor by name, of the shape and type of what it replaces; an empty one may have grown, or not be stored."""
    shape = like.shape
    if like.ndim and not like.shape[0]:
        if name not in found:
            return like
        shape = (found.rows(name), *like.shape[1:])
    array = found.take(name, shape, like.dtype)
    return jax.numpy.asarray(array) if isinstance(like, jax.Array) else array


def _tensors(state: State) -> dict[str, NDArray[Any]]:
    archive = {f"archive.{part}": getattr(state.archive, part) for part in ARCHIVE}
    leaves, _ = jax.tree_util.tree_flatten_with_path(_trees(state))
    return archive | {_name(path): np.asarray(leaf) for path, leaf in leaves if np.size(leaf)}


def _trees(state: State) -> dict[str, Any]:
    """The parts that are trees of arrays."""
    return {part: getattr(state, part) for part in ("learned", "novelty", "search", "remembered", "entered")}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
