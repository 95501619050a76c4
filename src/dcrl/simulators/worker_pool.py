"""A simulator whose episodes are played by workers: other processes, on this machine or on others.

A batch is cut into chunks, which the workers pull: large ones first, small ones at the end, so that a slow worker does
not hold up the others. An episode depends on its genotype and its key alone, so results do not depend on the number of
workers or on who plays what, and the chunk of a worker that dies is simply played again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import jax
import numpy as np

from dcrl.cluster.connection import require_ray
from dcrl.devices import cores
from dcrl.networks.policies import Layers
from dcrl.simulators.packing import Packed, empty_evaluation, unpack
from dcrl.simulators.simulator import Simulator, closed_error
from dcrl.simulators.worker import Opening
from dcrl.simulators.workers import Workers
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.tasks.registry import AnyTask
from dcrl.types import Evaluation, Floats, Ints
from dcrl.user_code.reference import is_reference, parse

CHUNK_SHARE = 2  # a chunk is this share of what is left: 1 / (this x threads that pull)
# Episodes of the smallest chunk. MuJoCo steps the episodes of a chunk together, so small ones are slow; Gymnasium's
# environments are stepped one by one.
SMALLEST_TOGETHER, SMALLEST_ALONE = 32, 4
MOST_LOSSES = 5  # of one worker, without a chunk completed in between
PATIENCE_SECONDS = 600.0  # for a worker to start while none plays


class LostWorkerError(Exception):
    """A worker died; the chunk can be played again."""


class _OverError(Exception):
    """The batch is complete or abandoned."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Episodes to play."""

    episodes: Ints  # their rows in the batch
    genotypes: Floats
    starts: Ints  # seeds of environments, or the keys' data
    layers: Layers
    record: bool


Check: TypeAlias = Callable[[], None]  # raises if there is no more reason to wait


class Worker(Protocol):
    """One worker: it is opened before the first chunk, and again after it has died.

    Both methods call `check` while they wait, and raise LostWorkerError if the worker dies, ValueError if the task
    cannot be played. Up to `at_once` threads call them: a chunk can travel while the worker plays another.
    """

    at_once: int

    def open(self, check: Check) -> None: ...
    def play(self, chunk: Chunk, check: Check) -> Packed: ...
    def close(self) -> None: ...


class WorkerPool(Simulator):
    """Owns the workers."""

    compiles = False
    overlap = True  # their episodes take no thread of this process

    def __init__(self, task: AnyTask, workers: Sequence[Worker], resources: ExitStack) -> None:
        self.task, self.workers, self._resources = task, workers, resources
        self._closed = False

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        if self._closed:
            raise closed_error(self.task.name)
        batch = _Batch(self.task, np.asarray(genotypes, np.float32), _starts(self.task, keys), layers, record)
        pullers = [worker for worker in self.workers for _ in range(worker.at_once)]
        with ThreadPoolExecutor(len(pullers), thread_name_prefix="dcrl-worker") as pool:
            pulling = [pool.submit(batch.pull, worker, len(pullers)) for worker in pullers]
            try:
                for each in pulling:
                    each.result()
            except BaseException:  # also an interrupt
                batch.abandon()
                raise
        return batch.evaluation

    def close(self) -> None:
        self._closed = True
        for worker in self.workers:
            worker.close()
        self._resources.close()


class _Batch:
    """The episodes of one batch: those to be played, those being played, and what came of the others."""

    def __init__(self, task: AnyTask, genotypes: Floats, starts: Ints, layers: Layers, record: bool) -> None:
        self.task, self.genotypes, self.starts, self.layers, self.record = task, genotypes, starts, layers, record
        self.evaluation = empty_evaluation(len(genotypes), task, record=record)
        self._todo: Ints = np.arange(len(genotypes))
        self._smallest = SMALLEST_ALONE if isinstance(task, GymnasiumTask) else SMALLEST_TOGETHER
        self._played = self._playing = 0
        self._abandoned = False
        self._changed = threading.Condition()
        self._since = time.monotonic()  # of the last change

    def pull(self, worker: Worker, pullers: int) -> None:
        """Let a worker play chunks, as one of so many threads, until the batch is complete."""
        losses = 0
        while not self._over:
            chunk = None
            try:
                worker.open(self._check)
                chunk = self._next(pullers)
                if chunk is not None:
                    unpack(worker.play(chunk, self._check), self.evaluation, chunk.episodes)
                    self._settle(chunk, played=True)
                    losses = 0
            except _OverError:
                return
            except LostWorkerError as error:
                self._settle(chunk, played=False)
                losses += 1
                if losses == MOST_LOSSES:
                    self.abandon()
                    raise ValueError(
                        f"task {self.task.name}: a worker was lost {losses} times in a row, last because {error}"
                    ) from None
            except BaseException:
                self.abandon()
                raise

    def abandon(self) -> None:
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()

    @property
    def _over(self) -> bool:
        return self._abandoned or self._played == len(self.genotypes)

    def _check(self) -> None:
        if self._over:
            raise _OverError
        if not self._playing and time.monotonic() - self._since > PATIENCE_SECONDS:
            raise ValueError(f"task {self.task.name}: no worker could be started for {PATIENCE_SECONDS:.0f} seconds")

    def _next(self, pullers: int) -> Chunk | None:
        """The next chunk; waits while others may still give theirs back. None when there is nothing left."""
        with self._changed:
            while not len(self._todo) and not self._over:
                self._changed.wait()
            if self._over:
                return None
            size = max(self._smallest, -(-len(self._todo) // (CHUNK_SHARE * pullers)))
            rows, self._todo = self._todo[:size], self._todo[size:]
            self._playing += 1
        return Chunk(
            episodes=rows,
            genotypes=self.genotypes[rows],
            starts=self.starts[rows],
            layers=self.layers,
            record=self.record,
        )

    def _settle(self, chunk: Chunk | None, *, played: bool) -> None:
        """A chunk was played, or is to be played again."""
        with self._changed:
            self._since = time.monotonic()
            if chunk is not None:
                self._playing -= 1
                if played:
                    self._played += len(chunk.episodes)
                else:
                    self._todo = np.concatenate([chunk.episodes, self._todo])
            self._changed.notify_all()


def open_pool(task: AnyTask, name: str, threads: int | None, workers: Workers, reference: str | None) -> Simulator:
    """A simulator whose episodes these workers play."""
    if name == "mjx":
        raise ValueError("the simulator mjx uses the accelerators of this machine; leave out --workers")
    if reference is None:
        raise ValueError(
            f"task {task.name}: other processes find a task by its name or as file.py:object, not as an object; "
            "leave out workers to play it in this process"
        )
    opening = Opening(reference=_absolute(reference), simulator=name, threads=threads)
    if workers.kind == "ray":
        require_ray()
        from dcrl.simulators.ray_workers import open_ray_workers

        return WorkerPool(task, *open_ray_workers(opening, workers))
    from dcrl.simulators.local_workers import open_local_workers

    return WorkerPool(task, open_local_workers(opening, workers.count or cores()), ExitStack())


def _absolute(reference: str) -> str:
    """A worker may have another working directory."""
    parts = parse(reference)
    if not is_reference(reference) or not parts.is_file:
        return reference
    return f"{Path(parts.where).resolve()}:{parts.name}"


def _starts(task: AnyTask, keys: jax.Array) -> Ints:
    if isinstance(task, GymnasiumTask):
        from dcrl.simulators.gymnasium import seeds_of

        return seeds_of(keys)
    return np.asarray(jax.random.key_data(keys))
