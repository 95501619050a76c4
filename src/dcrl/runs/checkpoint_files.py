"""The files of a checkpoint, read back: every name, checksum, shape and type is verified before it is used.

checkpoints/generation-00000123.json           what belongs together: counts, configuration, checksums
checkpoints/generation-00000123.safetensors    archive, networks, optimisers, novelty
checkpoints/replay-<first>-<last>.safetensors  the transitions inserted between two checkpoints
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dcrl import files

COUNTS = ("generation", "evaluations", "environment_steps", "invalid")
_PIECE = re.compile(r"replay-(\d{12,18})-(\d{12,18})\.safetensors", re.ASCII)
_OWN = re.compile(r"generation-\d{8,18}\.safetensors", re.ASCII)


class DamagedError(ValueError):
    """A checkpoint that is not what was written."""


def description(path: Path) -> dict[str, Any]:
    """The content of a checkpoint's JSON file."""
    content: dict[str, Any] = files.read_json(path)
    counts_fit = isinstance(content, dict) and all(_is_count(content.get(n)) for n in (*COUNTS, "inserted"))
    if not counts_fit or content.get("format") != files.FORMAT:
        raise ValueError(f"{path} does not describe a checkpoint of format {files.FORMAT}")
    if content.pop("checksum", None) != checksum(content):
        raise ValueError(f"{path} is damaged: its checksum is not the one it was written with")
    names = content.get("files")
    known = isinstance(names, dict) and all(
        isinstance(d, str) and (span(n) or _OWN.fullmatch(n)) for n, d in names.items()
    )
    own = [name for name in names if not span(name)] if isinstance(names, dict) else []
    if not known or len(own) != 1 or not isinstance(content.get("about"), dict):
        raise ValueError(f"{path} does not name its files")
    return content


def checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def span(name: str) -> tuple[int, int] | None:
    """Which insertions a piece of the replay buffer holds; None for another file."""
    match = _PIECE.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def verify(path: Path, digest: str) -> None:
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DamagedError(f"{path} cannot be read: {error.strerror}") from None
    if found != digest:
        raise DamagedError(f"{path} is damaged: its checksum is not the one it was written with")


class Tensors:
    """The tensors of one file, taken by name and refused if they do not fit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._found = files.read_tensors(path)[0]
        except ValueError as error:
            raise DamagedError(str(error)) from None

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def rows(self, name: str) -> int:
        """The length of a tensor's first axis."""
        return int((self._found[name].shape or (0,))[0])

    def take(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        if name not in self._found:
            raise DamagedError(f"{self.path} lacks the tensor {name!r}")
        array = self._found[name]
        if array.shape != shape or array.dtype != dtype:
            raise DamagedError(f"{self.path}: tensor {name!r} should be {dtype}{shape}, got {array.dtype}{array.shape}")
        return array


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
