"""One process at a time writes to a run directory.

The lock is a regular file, `.lock`, opened for writing: NFSv4 grants an exclusive lock on nothing else. The
operating system releases it when the process ends, however it ends. The file also names its owner and carries a
heartbeat, because a file server may release the lock of a machine that it believes dead while that machine still
writes: another host then waits until the heartbeat is old, and an owner that was replaced stops writing.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import threading
import time
import uuid
import warnings
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: the owner and its heartbeat alone
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"
HEARTBEAT_SECONDS = 20.0
OWNER_BYTES = 512
READER_SECONDS = 0.2  # for which a reader in `is_locked` may hold the lock
STALE_SECONDS = 120.0  # a heartbeat older than this is that of a dead process
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class Lock:
    """Holds a run directory until it is released; refuses one that another process holds."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._token = uuid.uuid4().hex
        self._ended = threading.Event()
        try:
            self._file = os.open(directory / NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OSError(error.errno, f"cannot write to {directory}: {error.strerror}") from None
        try:
            granted = _lock_soon(self._file)
            owner = _read(self._file)
            if granted is False or (owner and _may_be_writing(owner, locks_work=granted is True)):
                raise ValueError(_refusal(directory, owner))
        except BaseException:
            os.close(self._file)
            raise
        if granted is None:
            warnings.warn(
                f"{directory} is on a file system without locks; do not start two processes on one run",
                RuntimeWarning,
                stacklevel=3,
            )
        os.ftruncate(self._file, 0)
        self._beat()
        self._thread = threading.Thread(target=self._keep_beating, name="heartbeat", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise if another process has taken the directory over since: this one must not write any more."""
        owner = _read(self._file)
        if owner.get("token") != self._token:
            raise OSError(f"{self.directory} was taken over by {_name(owner)}; this process stops writing to it")

    def release(self) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        if _read(self._file).get("token") == self._token:
            os.ftruncate(self._file, 0)
        os.close(self._file)

    def _keep_beating(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            try:
                if _read(self._file).get("token") == self._token:
                    self._beat()
            except OSError:  # the file server does not answer; the next heartbeat may reach it
                continue

    def _beat(self) -> None:
        owner = {"token": self._token, "host": platform.node(), "pid": os.getpid(), "heartbeat": time.time()}
        # Always as long: no reader sees the end of a longer content after a shorter one
        os.pwrite(self._file, json.dumps(owner).encode().ljust(OWNER_BYTES), 0)


def is_locked(directory: Path) -> bool:
    """Whether a process writes to a run directory now; changes nothing in it."""
    try:
        file = os.open(directory / NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        granted = _lock(file, shared=True)
        owner = _read(file)
        return granted is False or bool(owner and _may_be_writing(owner, locks_work=granted is True))
    finally:
        os.close(file)


def _lock(file: int, *, shared: bool = False) -> bool | None:
    """Whether the lock was granted; None where this file system or operating system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in HELD else None
    return True


def _lock_soon(file: int) -> bool | None:
    """`_lock`, tried again for a moment, in which a reader may hold it."""
    until = time.monotonic() + READER_SECONDS
    while (granted := _lock(file)) is False and time.monotonic() < until:
        time.sleep(0.01)
    return granted


def _may_be_writing(owner: dict[str, Any], *, locks_work: bool) -> bool:
    """Whether the owner that a file names may still be alive although its lock was granted to us."""
    if owner.get("host") == platform.node():
        return not locks_work and _is_alive(owner.get("pid"))
    beat = owner.get("heartbeat")
    return isinstance(beat, int | float) and time.time() - beat < STALE_SECONDS


def _is_alive(pid: Any) -> bool:
    if not isinstance(pid, int) or pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read(file: int) -> dict[str, Any]:
    """The owner that a lock file names; nothing if it names none."""
    try:
        content = json.loads(os.pread(file, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _name(owner: dict[str, Any]) -> str:
    return f"process {owner['pid']} on {owner['host']}" if {"pid", "host"} <= owner.keys() else "another process"


def _refusal(directory: Path, owner: dict[str, Any]) -> str:
    return f"{directory} is in use by {_name(owner)}; wait for it to end, or stop it"
