"""A job on a node of a cluster: wait until nobody else writes to the run, claim cores, start the process, watch it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from dcrl.cluster.cores import claimed
from dcrl.runs.lock import STALE_SECONDS, is_locked
from dcrl.sweeps.job import Order
from dcrl.sweeps.process import INTERRUPTED, Outcome, launch, outcome

POLL_SECONDS = 0.5
PATIENCE = 1.5 * STALE_SECONDS  # for a process of a lost node, which checkpoints or whose heartbeat has to grow old
PASSED_ON = ("DCRL_", "JAX_", "WANDB_")  # variables of the sweep's environment that its processes get on any node


def work(
    order: Order,
    cpus: int,
    environment: Mapping[str, str],
    stopping: Callable[[], bool],
    look: Callable[[], None] = lambda: None,
) -> Outcome:
    """Carry out an order on `cpus` cores of this machine. Asked to stop, it leaves a checkpoint.

    `stopping` and `look` are called every half second.
    """
    deadline = time.monotonic() + PATIENCE
    while is_locked(order.written) and time.monotonic() < deadline:
        if stopping():
            return outcome(order, INTERRUPTED)
        time.sleep(POLL_SECONDS)
    if stopping():
        return outcome(order, INTERRUPTED)
    own = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}  # Ray sets it
    with claimed(cpus) as cores:
        try:
            process = launch(order, cores, own | dict(environment))
        except OSError as error:
            return Outcome(fate="failed", reason=f"cannot write to {order.log.parent}: {error.strerror}")
        asked = False
        try:
            while process.poll() is None:
                if not asked and stopping():
                    process.send_signal(signal.SIGTERM)
                    asked = True
                look()
                time.sleep(POLL_SECONDS)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait()
    return outcome(order, process.returncode)


def passed_on() -> dict[str, str]:
    """The variables of this process that the processes of its jobs get on any node."""
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}


def absolute(order: Order) -> Order:
    """The same order for a process with another working directory."""
    return order.moved(Path(os.path.abspath(order.directory / order.output)))
