"""Jobs on a Ray cluster: one task per job, which starts the ordinary process and watches it.

Only names, numbers and short texts travel, unless files have to be collected. Ray retries nothing: a task that was lost
ends here, and the sweep hands its job out again; whatever node gets it resumes the run from its last checkpoint.
"""

from __future__ import annotations

import platform
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import (
    ActorUnavailableError,
    NodeDiedError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    TaskCancelledError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from dcrl.cluster.agreement import mismatch, missing_file
from dcrl.cluster.connection import connected
from dcrl.sweeps.coordinator import Coordinator, collecting
from dcrl.sweeps.job import Job, Order
from dcrl.sweeps.node import absolute, passed_on, work
from dcrl.sweeps.process import Outcome
from dcrl.sweeps.sweep import Ended, Started
from dcrl.version import versions

GIB = 2**30


class RayCluster:
    """Owns the connection to a cluster and the tasks of the running jobs."""

    def __init__(
        self, *, address: str | None, at_once: int | None, cpus: int, gpus: int, memory: int, collect: bool
    ) -> None:
        self.address, self.collect, self._at_once = address, collect, at_once
        self.cpus, self.gpus, self.memory = cpus, gpus, memory
        self._waiting: deque[Job] = deque()
        self._tasks: dict[Any, int] = {}  # by object reference: the number of the attempt
        self._attempts: list[Job] = []
        self._started: set[int] = set()
        self._coordinator: Any = None
        self._exit = ExitStack()

    def __enter__(self) -> RayCluster:
        with ExitStack() as stack:
            stack.enter_context(connected(self.address))
            self._check()
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            coordinator = ray.remote(num_cpus=0, max_concurrency=100_000, scheduling_strategy=here)(Coordinator)
            self._coordinator = coordinator.remote()
            self._exit = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop the jobs that still run, wait for them, and disconnect."""
        try:
            try:
                self.stop()
                self._wait()
            except KeyboardInterrupt:
                self.stop()
                self._wait()
                raise
        finally:
            self._exit.close()

    @property
    def description(self) -> str:
        where = "on a Ray of this machine" if self.address is None else f"on the Ray cluster at {self.address}"
        room = "as many at once as there is room for" if self.at_once is None else f"{self.at_once} at once"
        return f"{where}, {room}"

    @property
    def at_once(self) -> int | None:
        return self._at_once

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def poll(self) -> list[Started | Ended]:
        self._hand_out()
        ended = ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)[0] if self._tasks else []
        try:
            news = dict(ray.get(self._coordinator.news.remote()))  # asked for after that: who has ended has started
        except ActorUnavailableError:  # for the moment; if it stays so, Ray says that the actor has died
            news = {}
        except RayError as error:
            self._coordinator, self._tasks = None, {}
            raise ConnectionError(
                f"the connection to the Ray cluster was lost ({_first_line(error)}); the runs write a checkpoint and "
                "end, and the same command resumes the sweep"
            ) from None
        started = [Started(job=self._attempts[number], where=where) for number, where in news.items()]
        self._started |= news.keys()
        before: list[Started | Ended] = []
        after: list[Started | Ended] = []
        for task in ended:
            number = self._tasks.pop(task)
            self._coordinator.release.remote(number)
            event = Ended(job=self._attempts[number], outcome=_outcome(task))
            (after if number in news else before).append(event)
        return [*before, *started, *after]

    def stop(self) -> None:
        self._waiting.clear()
        if self._coordinator is not None:
            self._coordinator.stop.remote()
        for task, number in self._tasks.items():
            if number not in self._started:
                ray.cancel(task)

    def _hand_out(self) -> None:
        limit = len(self._waiting) if self.at_once is None else self.at_once - len(self._tasks)
        options = {"num_cpus": self.cpus, "num_gpus": self.gpus, "memory": self.memory, "max_retries": 0}
        runner = ray.remote(scheduling_strategy="SPREAD", **options)(run_job)
        for _ in range(min(limit, len(self._waiting))):
            job, number = self._waiting.popleft(), len(self._attempts)
            self._attempts.append(job)
            order = absolute(job.order)
            task = runner.remote(order, number, self.cpus, self._coordinator, passed_on(), versions(), self.collect)
            self._tasks[task] = number

    def _wait(self) -> None:
        while self._tasks:
            self.poll()
            time.sleep(0.2)

    def _check(self) -> None:
        """Refuse a sweep that no node has room for."""
        asked = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory}
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if any(all(node.get(name, 0) >= amount for name, amount in asked.items()) for node in nodes):
            return
        most = {name: max((node.get(name, 0) for node in nodes), default=0) for name in asked}
        needed = f"{self.cpus} cores, {self.gpus} GPUs and {self.memory / GIB:.1f} GiB"
        raise ValueError(
            f"no node of the cluster has room for a run, which needs {needed}; the largest nodes have "
            f"{most['CPU']:.0f} cores, {most['GPU']:.0f} GPUs and {most['memory'] / GIB:.1f} GiB: change "
            "--cpus-per-run, --gpus-per-run or --memory-per-run"
        )


def run_job(
    order: Order,
    number: int,
    cpus: int,
    coordinator: Any,
    environment: Mapping[str, str],
    expected: Mapping[str, str | None],
    collect: bool,
) -> Outcome:
    """The task of one job, on the node that Ray has chosen."""
    reason = mismatch(expected) or missing_file(order.start, order.directory)
    if reason is not None:
        return Outcome(fate="failed", reason=reason)
    with ThreadPoolExecutor(max_workers=1) as pool:  # Ray gives a task's cores away while its main thread waits

        def get(answer: Any) -> Any:
            return pool.submit(ray.get, answer).result()

        def stopping() -> bool:
            """Also when the coordinator is gone, and the sweep with it."""
            return bool(pool.submit(ray.wait, [stop], timeout=0).result()[0])

        stop = coordinator.stopping.remote()
        get(coordinator.started.remote(number, platform.node()))
        if not collect:
            return _named(work(order, cpus, environment, stopping))
        with collecting(order, number, coordinator, get, stopping) as (here, look):
            ended = _named(work(here, cpus, environment, stopping, look))
            return replace(ended, reason=ended.reason.replace(str(here.output), str(order.output)))  # where it is found


def _named(ended: Outcome) -> Outcome:
    """With the node's name where the reason may be the node's, such as a full disk."""
    return replace(ended, reason=f"node {platform.node()}: {ended.reason}") if ended.fate == "failed" else ended


def _outcome(task: Any) -> Outcome:
    """What a task returned, or why it did not."""
    try:
        returned: Outcome = ray.get(task)
        return returned
    except TaskCancelledError:
        return Outcome(fate="lost", reason="it was stopped before it started")
    except OutOfMemoryError:
        return Outcome(fate="lost", reason="the memory of its node ran out")
    except NodeDiedError:
        return Outcome(fate="lost", reason="its node was lost")
    except WorkerCrashedError:
        return Outcome(fate="lost", reason="its worker process was killed")
    except RayTaskError as error:  # an exception in `run_job`
        cause = error.cause
        return Outcome(fate="failed", reason=" ".join(f"{type(cause).__name__}: {cause}".split()))
    except RayError as error:
        return Outcome(fate="lost", reason=_first_line(error))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
