"""Addresses of Ray clusters that are refused before Ray is started; tests/sweeps/test_ray.py connects to one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from dcrl.cluster import connection


@pytest.mark.parametrize("address", ["nowhere", "ray://head:10001", "head:", ":6379", "head:port"])
def test_what_is_no_address_is_one_sentence(address: str) -> None:
    with pytest.raises(ValueError, match=f"--address is auto or HOST:PORT .*, got '{address}'"):
        connection._knock(address)


@pytest.mark.parametrize("address", ["127.0.0.1:9", "127.0.0.1:99999"])
def test_an_address_at_which_nobody_answers_is_one_sentence(address: str) -> None:
    with pytest.raises(ValueError, match=f"there is no Ray cluster at {address}: .*`ray start --head` starts one"):
        connection._knock(address)


def test_the_directories_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(connection, "LONGEST_PLACE", len(str(tmp_path)))
    dead, alive = (tmp_path / f"{connection.PREFIX}{pid}-x" for pid in (2**22 + 1, os.getpid()))
    for left in (dead, alive):
        left.mkdir()
    own = connection._own_directory()
    assert own.parent == tmp_path
    assert (dead.exists(), alive.exists()) == (False, True)
