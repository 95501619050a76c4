"""Workers as actors of a Ray cluster, each with the ordinary simulator of its node.

Ray restarts nothing: an actor that is lost is replaced here, wherever the cluster has room. It gets a chunk only once
it runs, so one that waits for room holds up nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import ray
from ray.exceptions import RayError

from dcrl.cluster.agreement import mismatch, missing_file
from dcrl.cluster.connection import connected
from dcrl.simulators.packing import Packed
from dcrl.simulators.worker import Opening, Player
from dcrl.simulators.worker_pool import Check, Chunk, LostWorkerError
from dcrl.simulators.workers import Workers
from dcrl.user_code.importing import described
from dcrl.version import versions

POLL_SECONDS = 0.2
NO_ROOM = "the Ray cluster has room for {room} workers of {cpus} cores, --workers asks for {count}"


class RayPlayer:
    """What an actor is. A mistake in the task is an answer, a text; an exception means that the actor is lost."""

    def __init__(self, opening: Opening, expected: Mapping[str, str | None]) -> None:
        self._opening, self._expected = opening, expected
        self._player: Player | None = None

    def open(self) -> str:
        """Open the simulator; what is wrong, if anything is."""
        odd = mismatch(self._expected) or missing_file([self._opening.reference], Path.cwd())
        if odd is not None:
            return odd
        try:
            self._player = Player(self._opening)
        except Exception as error:  # any exception of the task's own code
            return described(error)
        return ""

    def play(self, genotypes: Any, starts: Any, sizes: tuple[int, ...], record: bool) -> Packed | str:
        assert self._player is not None
        try:
            return self._player.play(genotypes, starts, sizes, record)
        except Exception as error:  # any exception of the task's own code
            return described(error)


class RayWorker:
    """Owns one actor at a time. While it plays a chunk, the next one is sent to its node."""

    at_once = 2

    def __init__(self, opening: Opening, cpus: float) -> None:
        self._lock = Lock()
        self._kind = ray.remote(num_cpus=cpus, max_restarts=0, max_task_retries=0)(RayPlayer)
        self._opening = opening
        self._actor: Any = None
        self._opens: Any = None  # the answer to `open`, until it has come
        self._start()

    def open(self, check: Check) -> None:
        with self._lock:
            if self._actor is None:
                self._start()
            if self._opens is not None:
                self._get(self._actor, self._opens, check)
                self._opens = None

    def play(self, chunk: Chunk, check: Check) -> Packed:
        actor = self._actor
        if actor is None:
            raise LostWorkerError("its other chunk was lost")
        arguments = (chunk.genotypes, chunk.starts, chunk.layers.sizes, chunk.record)
        packed: Packed = self._get(actor, actor.play.remote(*arguments), check)
        return packed

    def close(self) -> None:
        if self._actor is not None:
            ray.kill(self._actor)
        self._actor = None

    def _start(self) -> None:
        """Ask for an actor; it may have to wait for room."""
        self._actor = self._kind.remote(self._opening, versions())
        self._opens = self._actor.open.remote()

    def _get(self, actor: Any, answer: Any, check: Check) -> Any:
        try:
            while not ray.wait([answer], timeout=POLL_SECONDS)[0]:
                check()
            found = ray.get(answer)
        except RayError as error:
            if self._actor is actor:  # not yet replaced, after the loss of another chunk
                self._actor = None
            raise LostWorkerError(" ".join(str(error).split())) from None
        if isinstance(found, str) and found:
            raise ValueError(f"a Ray worker: {found}")
        return found


def open_ray_workers(opening: Opening, workers: Workers) -> tuple[list[RayWorker], ExitStack]:
    """The workers on the cluster, and the connection to it, which is to be closed after them."""
    with ExitStack() as stack:
        stack.enter_context(connected(workers.address))
        nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        own = workers.address is None
        cpus = _cores_of_each([sum(nodes)] if own else nodes, workers)
        found = [RayWorker(replace(opening, threads=opening.threads or each), 0 if own else each) for each in cpus]
        return found, stack.pop_all()


def _cores_of_each(nodes: list[int], workers: Workers) -> list[int]:
    """How many cores each worker has, given those of the nodes."""
    nodes = [cpus for cpus in nodes if cpus]
    if workers.count is None and workers.cpus is None:
        if not nodes:
            raise ValueError("the Ray cluster has no node with cores")
        return nodes
    cpus = workers.cpus or 1
    room = sum(node // cpus for node in nodes)
    count = workers.count or room
    if workers.address is not None and (count > room or not room):
        raise ValueError(NO_ROOM.format(room=room, cpus=cpus, count=count or "at least one"))
    return [cpus] * max(1, count)
