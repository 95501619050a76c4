"""Files written atomically (under a temporary name, synced, renamed), and the safetensors files of this package.

`FORMAT` is the major version of those files. New fields and tensors do not change it: readers ignore what they do not
know. It grows only when an older reader would misunderstand a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import reprlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from dcrl.version import __version__

FORMAT = 1
HEADER_LIMIT = 2**20  # bytes; ours have a few thousand
JSON_LIMIT = 2**24
CHECKSUM = re.compile("[0-9a-f]{64}")
_UNFINISHED: set[Path] = set()  # temporary files of this process


def write_bytes(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Replace `path` by `content`, or leave it as it was; `mode` is its permissions before the umask."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    _UNFINISHED.add(temporary)
    try:
        with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise OSError(f"cannot write {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        _UNFINISHED.discard(temporary)


def discard_unfinished() -> None:
    """Delete what is being written at this moment: for a process that is about to end."""
    for path in tuple(_UNFINISHED):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def forget_unfinished(directory: Path, names: str) -> None:
    """Delete the temporary files that a killed process left; `names` is a pattern of the final names."""
    for path in directory.glob(f".{names}.*"):
        if path.suffix[1:].isdigit() and path.is_file():
            path.unlink()


def free(path: Path, *, overwrite: bool) -> Path:
    """The path, if it may be written to; an existing file is refused unless `overwrite`."""
    if path.is_dir():
        raise ValueError(f"{path} is a directory; expected the name of a file to write")
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already; --overwrite replaces it")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no directory {path.parent}")
    return path


def write_text(path: Path, content: str) -> None:
    write_bytes(path, content.encode())


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")


def read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > JSON_LIMIT:
            raise ValueError(f"it has {path.stat().st_size} bytes, expected at most {JSON_LIMIT}")
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None


def write_tensors(
    path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any], *, own_checksum: bool = False
) -> str:
    """A safetensors file; its metadata is JSON under the key `dcrl`, beginning with the format's version.

    With `own_checksum` the metadata ends with the `checksum` of all else. Returns the whole file's SHA-256.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    about = {"format": FORMAT, **metadata}
    if own_checksum:
        about["checksum"] = checksum(arrays, about)
    header = {"dcrl": json.dumps(about)}  # one key: the order of several is not fixed
    content = save(arrays, metadata=header)
    write_bytes(path, content)
    return hashlib.sha256(content).hexdigest()


def read_tensors(
    path: Path, names: tuple[str, ...] = (), *, without: str | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """All tensors, which must include `names`, and the metadata of a file that `write_tensors` wrote.

    `without` leaves one tensor out; the checksum, which covers all of them, is then not verified.
    """
    try:
        with open(path, "rb") as opened:
            size = int.from_bytes(opened.read(8), "little")
        if size > HEADER_LIMIT:
            raise ValueError(f"cannot read {path}: its header claims {size} bytes, expected at most {HEADER_LIMIT}")
        with safe_open(path, framework="numpy") as file:
            metadata = _metadata(path, file.metadata() or {})
            there = tuple(sorted(file.keys()))
            missing = [name for name in names if name not in there]
            if missing:
                raise ValueError(f"{path} lacks the tensor {missing[0]!r}")
            tensors = {name: _tensor(path, file, name) for name in there if name != without}
    except (OSError, SafetensorError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if without is None:
        _verify(path, tensors, metadata)
    return tensors, metadata


def checksum(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> str:
    """SHA-256 of the tensors in the order of their names, and of the metadata without the checksum itself."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        array = np.asarray(tensors[name], order="C")
        digest.update(f"{json.dumps(name)} {array.dtype.name} {list(array.shape)}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    others = {name: value for name, value in metadata.items() if name != "checksum"}
    digest.update(json.dumps(others, sort_keys=True).encode())
    return digest.hexdigest()


def _verify(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> None:
    """Refuse a file that does not match its checksum. A file without one is accepted."""
    if "checksum" in metadata:
        if metadata["checksum"] != checksum(tensors, metadata):
            raise ValueError(f"{path} is damaged: it does not match its metadata field 'checksum'")
    elif any(isinstance(value, str) and CHECKSUM.fullmatch(value) for value in metadata.values()):
        raise ValueError(f"{path} is damaged: it has a checksum, but no metadata field 'checksum'")


def _metadata(path: Path, header: Mapping[str, str]) -> dict[str, Any]:
    try:
        metadata = json.loads(header.get("dcrl", "{}"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot read {path}: its metadata 'dcrl' is not valid JSON ({error})") from None
    version = metadata.get("format") if isinstance(metadata, dict) else None
    if type(version) is not int or version < 1:  # True equals 1
        raise ValueError(f"{path} is not a dcrl file: its metadata field 'format' is {reprlib.repr(version)}")
    if version > FORMAT:
        writer = metadata.get("version")
        known = isinstance(writer, str) and writer.isprintable() and len(writer) < 40
        wrote = f"dcrl {writer}" if known else "a later version"
        raise ValueError(
            f"{path} has format {reprlib.repr(version)}, written by {wrote}; dcrl {__version__} "
            f"reads format {FORMAT}: install a later version, "
            "for example with pip install --upgrade dcrl-map-elites"
        )
    return dict(metadata)


def _tensor(path: Path, file: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(file.get_tensor(name))
    except (TypeError, ValueError, AttributeError) as error:  # a type or shape that NumPy does not support
        raise ValueError(f"cannot read {path}: tensor {reprlib.repr(name)}: {error}") from None
