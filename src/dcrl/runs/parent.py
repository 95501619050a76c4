"""Processes that stop when the process that started them ends, even if it is killed."""

from __future__ import annotations

import os
import signal
import threading
import time

PARENT = "DCRL_PARENT"  # an environment variable: the process that this one ends with
POLL_SECONDS = 0.5


def end_with_parent() -> None:
    """If PARENT names a process, send this one SIGTERM when that ends; a training run then writes a checkpoint."""
    parent = os.environ.pop(PARENT, "")
    if parent.isdigit():
        threading.Thread(target=_watch, args=(int(parent),), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
