"""Files that are whole or not there: written under a temporary name, synced, renamed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

FORMAT = 1


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, or leave it as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def write_text(path: Path, content: str) -> None:
    write_bytes(path, content.encode())


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> str:
    """A safetensors file; its metadata is JSON under the key `dcrl`, beginning with the format's version.

    Returns the file's SHA-256 checksum.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    header = {"dcrl": json.dumps({"format": FORMAT, **metadata})}  # one key: the order of several is not fixed
    content = save(arrays, metadata=header)
    write_bytes(path, content)
    return hashlib.sha256(content).hexdigest()


def read_tensors(path: Path, names: tuple[str, ...] | None = None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The tensors, or those named, and the metadata of a file that `write_tensors` wrote."""
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            metadata = json.loads(header.get("dcrl", "{}"))
            if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
                raise ValueError(f"{path} is no dcrl file of format {FORMAT}; its metadata names no such format")
            there = tuple(file.keys())
            missing = [name for name in names or () if name not in there]
            if missing:
                raise ValueError(f"{path} lacks the tensor {missing[0]!r}")
            return {name: file.get_tensor(name) for name in (there if names is None else names)}, metadata
    except (OSError, SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
