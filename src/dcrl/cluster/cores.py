"""Cores that one job claims for itself on a machine where others run."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def claimed(count: int) -> Iterator[frozenset[int]]:
    """Cores of this machine that no other job has claimed; none, which means all, where so many are not free.

    A claim is a socket in Linux's abstract namespace: it leaves no file, and ends with the process that holds it.
    """
    with ExitStack() as claims:
        cores: set[int] = set()
        for core in sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ():
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            claims.callback(claim.close)
            try:
                claim.bind(f"\0dcrl-core-{core}")
            except OSError:
                continue
            cores.add(core)
            if len(cores) == count:
                break
        yield frozenset(cores) if len(cores) == count else frozenset()
