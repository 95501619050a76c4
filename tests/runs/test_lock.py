"""The lock of a run directory: one owner, a heartbeat, and file systems without locks."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import stat
import threading
import time

import pytest

from dcrl.runs.lock import NAME, STALE_SECONDS, Lock, is_locked


def owner(directory, **changes) -> None:
    """Write an owner, as another process would have."""
    content = {"token": "other", "host": "elsewhere", "pid": 7, "heartbeat": time.time()} | changes
    (directory / NAME).write_text(json.dumps(content))


def test_a_second_lock_is_refused_and_names_the_owner(tmp_path):
    first = Lock(tmp_path)
    assert is_locked(tmp_path)
    with pytest.raises(ValueError, match=f"in use by process {os.getpid()} on {platform.node()}; wait for it"):
        Lock(tmp_path)
    first.release()
    first.release()
    assert not is_locked(tmp_path)
    Lock(tmp_path).release()
    assert (tmp_path / NAME).read_bytes() == b""


def test_the_lock_is_a_regular_file_opened_for_writing(tmp_path):
    lock = Lock(tmp_path)
    assert stat.S_ISREG(os.fstat(lock._file).st_mode)
    assert fcntl.fcntl(lock._file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
    lock.release()


def test_a_machine_believed_dead_is_waited_for_until_its_heartbeat_is_old(tmp_path):
    owner(tmp_path)
    assert is_locked(tmp_path)
    with pytest.raises(ValueError, match="in use by process 7 on elsewhere"):
        Lock(tmp_path)
    owner(tmp_path, heartbeat=time.time() - STALE_SECONDS - 1)
    assert not is_locked(tmp_path)
    Lock(tmp_path).release()


def test_a_dead_process_of_this_machine_is_not_waited_for(tmp_path):
    owner(tmp_path, host=platform.node(), pid=os.getpid())  # alive, but it does not hold the lock
    Lock(tmp_path).release()


def test_an_owner_that_was_replaced_stops_writing(tmp_path):
    lock = Lock(tmp_path)
    lock.check()
    owner(tmp_path)
    with pytest.raises(OSError, match="was taken over by process 7 on elsewhere"):
        lock.check()
    lock.release()
    assert json.loads((tmp_path / NAME).read_text())["host"] == "elsewhere"  # the other's file is left as it is


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK, errno.EBADF])
def test_without_locks_the_owner_alone_decides(tmp_path, monkeypatch, number):
    def refuse(file: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.warns(RuntimeWarning, match="file system without locks"):
        first = Lock(tmp_path)
    with pytest.raises(ValueError, match="in use by process"):
        Lock(tmp_path)
    first.release()
    owner(tmp_path, host=platform.node(), pid=2**22 + 1)  # no such process
    with pytest.warns(RuntimeWarning, match="file system without locks"):
        Lock(tmp_path).release()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pid": "x"}', "x" * 3000])
def test_a_damaged_lock_file_locks_nothing(tmp_path, content):
    (tmp_path / NAME).write_text(content)
    assert not is_locked(tmp_path)
    lock = Lock(tmp_path)
    lock.check()
    lock.release()


def test_every_heartbeat_is_as_long_so_that_no_reader_sees_a_torn_one(tmp_path, monkeypatch):
    lock = Lock(tmp_path)
    lengths = set()
    written = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, content, at: lengths.add(len(content)) or written(file, content, at))
    for now in (1.0, 1234567890.123456):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        lock._beat()
        lock.check()
    assert len(lengths) == 1
    lock.release()


def test_a_reader_does_not_make_a_free_directory_look_used(tmp_path):
    """`is_locked` holds a shared lock for a moment; whoever begins a run in that moment waits for it."""
    (tmp_path / NAME).touch()
    reader = os.open(tmp_path / NAME, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    threading.Timer(0.05, os.close, [reader]).start()
    Lock(tmp_path).release()
