"""Named arrays over a pipe, between two Pythons with nothing but NumPy in common."""

from __future__ import annotations

import io
import struct
from typing import IO

import numpy as np
from numpy.typing import NDArray

LENGTH = struct.Struct("<Q")  # of the frame that follows, in bytes
Arrays = dict[str, NDArray]


def send(pipe: IO[bytes], arrays: Arrays) -> None:
    content = io.BytesIO()
    np.savez(content, **arrays)
    pipe.write(LENGTH.pack(content.tell()))
    pipe.write(content.getvalue())
    pipe.flush()


def receive(pipe: IO[bytes]) -> Arrays | None:
    """The next arrays; None when the other side has closed the pipe."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    with np.load(io.BytesIO(pipe.read(LENGTH.unpack(head)[0]))) as content:
        return dict(content)
