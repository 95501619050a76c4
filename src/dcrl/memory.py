"""Memory of large arrays that are replaced in every generation: it is used again once nothing refers to the array.

Otherwise each generation returns it to the operating system and asks for it again. The system clears it, and on many
virtual machines takes it from the host page by page, which can take longer than to fill it.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import weakref
from collections import deque

import numpy as np

from dcrl.types import Floats

FLOAT_BYTES = 4
LARGE = 4 * 2**20  # bytes; smaller arrays are the memory allocator's own business
KEPT = 12  # blocks kept for their next use: those of an archive and of two batches of episodes

# Where processes can be forked: a child must not write into the arrays of its parent. The default is shared memory.
PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}

Kind = tuple[int, bool]  # bytes, and whether the pages are small
_free: deque[tuple[Kind, mmap.mmap]] = deque(maxlen=KEPT)  # its methods are atomic, so that it needs no lock


def uninitialised(shape: tuple[int, ...], *, small_pages: bool = False) -> Floats:
    """A float32 array with any content.

    With `small_pages`, memory is taken only where it is written to. For large arrays NumPy asks Linux for huge pages,
    2 MiB each, so that a few steps of every episode would take the memory of all steps.
    """
    size = math.prod(shape) * FLOAT_BYTES
    if size < LARGE:
        return np.empty(shape, np.float32)
    kind = (size, small_pages)
    block = _taken(kind) or _new(kind)
    array = np.frombuffer(block, np.float32)  # all views of it refer to it
    weakref.finalize(array, _free.append, (kind, block)).atexit = False
    return array.reshape(shape)


def copied(array: Floats) -> Floats:
    """A copy of a float32 array."""
    new = uninitialised(array.shape)
    np.copyto(new, array)
    return new


def _taken(kind: Kind) -> mmap.mmap | None:
    """A block that was used before; None if there is none."""
    for _ in range(len(_free)):
        with contextlib.suppress(IndexError):  # another thread took the last one
            found = _free.popleft()
            if found[0] == kind:
                return found[1]
            _free.append(found)
    return None


def _new(kind: Kind) -> mmap.mmap:
    size, small_pages = kind
    block = mmap.mmap(-1, size, **PRIVATE)
    advice = getattr(mmap, "MADV_NOHUGEPAGE" if small_pages else "MADV_HUGEPAGE", None)
    if advice is not None:
        with contextlib.suppress(OSError):  # a kernel without huge pages
            block.madvise(advice)
    return block
