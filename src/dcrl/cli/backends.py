"""The flags that choose a backend, and the loop that runs jobs on it, with a live table and Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import tyro

from dcrl.cli.interrupt import INTERRUPTED, Interrupted, interrupts
from dcrl.cli.sweep_table import Display
from dcrl.cluster.connection import require_ray
from dcrl.repertoires.words import plural
from dcrl.sweeps.job import Job
from dcrl.sweeps.local import Local
from dcrl.sweeps.slurm import Slurm
from dcrl.sweeps.slurm_script import Resources, script
from dcrl.sweeps.sweep import Backend, Sweep

LOOK_SECONDS = 0.5
FAILED = 1
GIB = 2**30
OF = {  # the flags that only some backends have
    "address": ("ray",),
    "collect": ("ray",),
    "cpus_per_run": ("ray", "slurm"),
    "gpus_per_run": ("ray", "slurm"),
    "memory_per_run": ("ray", "slurm"),
    "submit": ("slurm",),
    "time_limit": ("slurm",),
    "sbatch": ("slurm",),
}


@dataclass(frozen=True, kw_only=True)
class BackendFlags:
    """Where jobs run. This does not change results."""

    backend: Literal["local", "ray", "slurm"] | None = None
    """local: processes on this machine, the default. ray: a Ray cluster (optional extra). slurm: a job array."""
    at_once: int | None = None
    """How many runs at a time; by default one per core, on ray and slurm as many as fit."""
    retries: int = 3
    """How often a run that was killed, or whose node was lost, is resumed before it counts as failed."""
    address: Annotated[str | None, tyro.conf.arg(metavar="auto|HOST:PORT")] = None
    """ray: the cluster; without it, Ray is started on this machine and stopped at the end."""
    cpus_per_run: int = 1
    """ray, slurm: cores of each run."""
    gpus_per_run: int = 0
    """ray, slurm: GPUs of each run."""
    memory_per_run: float | None = None
    """ray, slurm: memory of each run, in GiB; by default the estimate of the preview."""
    collect: bool = False
    """ray: the nodes do not share the output directory; copy each run's files to this machine while it runs."""
    submit: bool = False
    """slurm: submit the job array and follow it; otherwise its script is printed."""
    time_limit: str = "24:00:00"
    """slurm: the time limit of each job; a run that needs longer is requeued and resumed."""
    sbatch: tuple[str, ...] = ()
    """slurm: additional options of sbatch, without dashes, as in: --sbatch partition=cpu account=robots"""

    def check(self, *, ray_workers: bool = False) -> None:
        """Refuse values out of range, and flags of another backend; workers on Ray have an address as well."""
        defaults = {field.name: field.default for field in fields(self)}
        for name, backends in OF.items():
            free = ray_workers and name == "address"
            if not free and self.backend not in backends and getattr(self, name) != defaults[name]:
                flag = f"--{name.replace('_', '-')}"
                raise ValueError(
                    f"{flag} belongs to --backend {' or '.join(backends)}, got --backend {self.backend or 'local'}"
                )
        for name, least in (("at_once", 1), ("retries", 0), ("cpus_per_run", 1), ("gpus_per_run", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"--{name.replace('_', '-')} is at least {least}, got {value}")
        if self.memory_per_run is not None and not self.memory_per_run > 0:
            raise ValueError(f"--memory-per-run is a positive number of GiB, got {self.memory_per_run}")
        if self.backend == "ray":
            require_ray("--backend ray")


def make(flags: BackendFlags, memory: int) -> Backend:
    """The backend that the flags describe, with nothing started yet; `memory` is the estimate for one job, in bytes."""
    if flags.backend == "ray":
        from dcrl.sweeps.ray import RayCluster

        return RayCluster(
            address=flags.address,
            at_once=flags.at_once,
            cpus=flags.cpus_per_run,
            gpus=flags.gpus_per_run,
            memory=memory if flags.memory_per_run is None else int(flags.memory_per_run * GIB),
            collect=flags.collect,
        )
    if flags.backend == "slurm":
        return Slurm(resources(flags, memory), flags.at_once)
    return Local(flags.at_once)


def resources(flags: BackendFlags, memory: int) -> Resources:
    """What each job of a Slurm array asks for."""
    return Resources(
        cpus=flags.cpus_per_run,
        gpus=flags.gpus_per_run,
        memory=memory if flags.memory_per_run is None else int(flags.memory_per_run * GIB),
        time_limit=flags.time_limit,
        options=flags.sbatch,
    )


def print_script(flags: BackendFlags, waiting: Sequence[Job], memory: int) -> int:
    """Print the script of the waiting jobs, for `sbatch`; the exit code."""
    if not waiting:
        raise ValueError("all runs are complete; there is nothing to submit")
    print(script(waiting, resources(flags, memory), flags.at_once), end="")
    return 0


def run_jobs(
    backend: Backend, every: Sequence[Job], waiting: Sequence[Job], retries: int, done: str, noun: str = "run"
) -> int:
    """Run the waiting jobs on a backend; the exit code. `done` is said when all are complete."""
    if not waiting:
        return _conclude({}, done)
    with interrupts() as interrupt, Display(len(every), len(every) - len(waiting), f"{noun}s") as display:
        with backend:
            sweep = Sweep(backend, waiting, retries)
            try:
                while sweep.busy:
                    interrupt.check()
                    for event in sweep.poll():
                        display.show(event)
                    display.look()
                    time.sleep(LOOK_SECONDS)
            except Interrupted:
                display.close()
                print(f"stopping {plural(len(sweep.running), noun)}", flush=True)
        if interrupt.asked:
            print("interrupted; the same command resumes the sweep")
            return INTERRUPTED
    return _conclude(sweep.failed, done)


def _conclude(failed: Mapping[Job, str], done: str) -> int:
    for job, reason in failed.items():
        log = f" (log: {job.order.log})" if job.order.log.exists() else ""  # a node may refuse it before it starts
        print(f"failed: {job}: {reason}{log}")
    print("the same command tries the failed ones again" if failed else done)
    return FAILED if failed else 0
