"""One process at a time in a run directory. The lock goes with the process, however that ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where two processes are the user's own care
    fcntl = None  # type: ignore[assignment]


class Lock:
    """Holds a directory until it is released; refuses one that another process holds."""

    def __init__(self, directory: Path) -> None:
        self._directory: int | None = None
        if fcntl is None:
            return
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ValueError(f"{directory} is in use by another process; wait for it to end, or stop it") from None
        self._directory = descriptor

    def release(self) -> None:
        if self._directory is not None:
            os.close(self._directory)
        self._directory = None
