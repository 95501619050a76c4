"""The process of a job: `dcrl` started on cores of its own, and what its end means."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from dcrl.runs.parent import PARENT
from dcrl.sweeps.job import Order

INTERRUPTED = 130  # the exit code of a command that was asked to stop and left a checkpoint


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ended. A lost one was stopped from outside and can be resumed; a failed one would fail again."""

    fate: Literal["done", "failed", "lost"]
    reason: str = ""


def launch(
    order: Order, cores: Collection[int] = (), environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start the process of an order, on these cores if any are given. It stops when this process ends."""
    order.log.parent.mkdir(parents=True, exist_ok=True)
    variables = dict(os.environ if environment is None else environment) | {PARENT: str(os.getpid())}
    with open(order.log, "ab") as log, open(order.errors, "wb") as errors, _on(cores):  # a child inherits the cores
        return subprocess.Popen(
            order.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=errors,
            env=variables,
            cwd=order.directory if order.directory.is_dir() else None,
            start_new_session=True,  # Ctrl-C reaches it once, through the sweep
        )


def outcome(order: Order, code: int) -> Outcome:
    """What an exit code means; the reason is the signal, or the last line on standard error."""
    if code == 0:
        return Outcome(fate="done")
    if code < 0:
        return Outcome(fate="lost", reason=f"it was killed by {signal.Signals(-code).name}")
    if code == INTERRUPTED:
        return Outcome(fate="lost", reason="it was asked to stop")
    lines = order.errors.read_text(errors="replace").splitlines() if order.errors.exists() else []
    written = [line.strip() for line in lines if line.strip()]
    return Outcome(fate="failed", reason=written[-1] if written else f"it ended with exit code {code}")


@contextmanager
def _on(cores: Collection[int]) -> Iterator[None]:
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
