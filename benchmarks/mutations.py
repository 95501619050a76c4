"""Random damage to a safetensors or JSON file, for `fuzz.py`: bytes that change, and valid files with wrong content."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

NONSENSE = [None, 0, -1, 1.5, True, "", "x", [], {}, [1, 2], [[1]], 10**30, float("nan"), float("inf"), 2**62, "\ud800"]

Random = np.random.Generator
Mutation = Callable[[Random, bytes], bytes]


def header(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a safetensors file and the tensors' data."""
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def with_header(head: Any, data: bytes) -> bytes:
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def flipped(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for place in random.integers(len(content), size=random.integers(1, 4)):
        changed[place] ^= 1 << int(random.integers(8))
    return bytes(changed)


def truncated(random: Random, content: bytes) -> bytes:
    return content[: random.integers(len(content))]


def inserted(random: Random, content: bytes) -> bytes:
    place = random.integers(len(content) + 1)
    return content[:place] + random.bytes(int(random.integers(1, 20))) + content[place:]


def replaced(random: Random, content: bytes) -> bytes:
    place, length = random.integers(len(content)), int(random.integers(1, 20))
    return content[:place] + random.bytes(length) + content[place + length :]


def digits(random: Random, content: bytes) -> bytes:
    """One digit of the header is another: what stays plausible longest."""
    size = struct.unpack("<Q", content[:8])[0] if content[:1] != b"{" else len(content) - 8
    places = [place for place in range(8, 8 + size) if chr(content[place]).isdigit()]
    place = places[random.integers(len(places))]
    return content[:place] + str(random.integers(10)).encode() + content[place + 1 :]


def relabelled(random: Random, content: bytes) -> bytes:
    """A header of valid JSON in which one entry is another's, or nonsense."""
    if content[:1] == b"{":
        return rewritten(random, content)
    head, data, one, other = _two_tensors(random, content)
    wrong = random.choice(["dtype", "shape", "data_offsets"])
    values = [head[other][wrong], [], [-1], [2**63], "F64", None, [0, 0], [1, 2**62], {}, "BOOL"]
    head[one] = head[one] | {wrong: values[random.integers(len(values))]}
    return with_header(head, data)


def swapped(random: Random, content: bytes) -> bytes:
    """Two tensors under each other's name."""
    if content[:1] == b"{":
        return rewritten(random, content)
    head, data, one, other = _two_tensors(random, content)
    head[one], head[other] = head[other], head[one]
    return with_header(head, data)


def _two_tensors(random: Random, content: bytes) -> tuple[dict[str, Any], bytes, str, str]:
    """The header, the data, and the names of two tensors, which may be the same."""
    head, data = header(content)
    one, other = random.choice([name for name in head if name != "__metadata__"], 2)
    return head, data, one, other


def rewritten(random: Random, content: bytes) -> bytes:
    """Metadata of valid JSON with one field replaced by nonsense, or left out."""
    if content[:1] == b"{":
        document = json.loads(content)
        _spoil(random, document)
        return json.dumps(document).encode()
    head, data = header(content)
    metadata = json.loads(head["__metadata__"]["dcrl"])
    _spoil(random, metadata)
    return with_header(head | {"__metadata__": {"dcrl": json.dumps(metadata)}}, data)


def _spoil(random: Random, content: dict[str, Any]) -> None:
    inner = [value for value in content.values() if isinstance(value, dict) and value]
    inside = inner[random.integers(len(inner))] if inner and random.random() < 0.5 else content
    name = str(random.choice(list(inside)))
    if random.random() < 0.2:
        del inside[name]
    else:
        inside[name] = NONSENSE[random.integers(len(NONSENSE))]


MUTATIONS: tuple[Mutation, ...] = (flipped, truncated, inserted, replaced, relabelled, rewritten, digits, swapped)
