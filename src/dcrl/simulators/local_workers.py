"""Workers as processes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from dcrl.devices import cores
from dcrl.simulators.packing import Packed
from dcrl.simulators.worker import Opening, receive, send
from dcrl.simulators.worker_pool import Check, Chunk, LostWorkerError

POLL_SECONDS = 0.2
END_SECONDS = 5.0
# Workers are what uses the cores, and accelerators belong to the process that trains.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
VARIABLES = ONE_THREAD | {"JAX_PLATFORMS": "cpu"}


def open_local_workers(opening: Opening, count: int) -> list[LocalWorker]:
    """So many workers, which share the cores; their processes start at once and are waited for when they are needed."""
    threads = max(1, cores() // count) if opening.threads is None else opening.threads
    return [LocalWorker(replace(opening, threads=threads)) for _ in range(count)]


class LocalWorker:
    """Owns one process at a time."""

    at_once = 1

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._opened = False
        self._process, self._connection = self._start()

    def open(self, check: Check) -> None:
        if self._process.returncode is not None:
            self._opened = False
            self._process, self._connection = self._start()
        if self._opened:
            return
        try:
            self._answer(check)
        except ValueError as error:
            raise ValueError(
                f"a worker process cannot open the task: {error}; --workers local:0 plays its episodes in this process"
            ) from None
        self._opened = True

    def play(self, chunk: Chunk, check: Check) -> Packed:
        try:
            about = {"sizes": chunk.layers.sizes, "record": chunk.record}
            send(self._connection, about, {"genotypes": chunk.genotypes, "starts": chunk.starts})
        except OSError:
            raise LostWorkerError(self._end()) from None
        try:
            return self._answer(check)
        except BaseException:  # a later chunk must not get the answer to this one
            self._end()
            raise

    def close(self) -> None:
        self._end()

    def _start(self) -> tuple[subprocess.Popen[bytes], Connection]:
        ours, theirs = Pipe()
        variables = os.environ | VARIABLES | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dcrl.simulators.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=variables,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for the process that owns the run
        )
        theirs.close()
        send(ours, asdict(self._opening))
        return process, ours

    def _answer(self, check: Check) -> Packed:
        try:
            while not self._connection.poll(POLL_SECONDS):
                check()
            about, arrays = receive(self._connection)
        except (EOFError, OSError):
            raise LostWorkerError(self._end()) from None
        if "error" in about:
            raise ValueError(about["error"])
        return arrays

    def _end(self) -> str:
        """End the process; why it had ended, if it had."""
        self._connection.close()
        if self._process.poll() is None:
            self._process.terminate()
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"it was killed by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
