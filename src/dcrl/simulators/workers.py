"""Which processes play the episodes: this one, processes on this machine, or a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcrl.devices import cores
from dcrl.hyperparameters import optional_count

Kind = Literal["none", "local", "ray"]


@dataclass(frozen=True, kw_only=True)
class WorkersConfig:
    """Where episodes are simulated. This does not change results and may differ each time a run is resumed."""

    workers: str | None = None
    """Processes that play the episodes: local:N on this machine (0: none), ray or ray:N on a Ray cluster. By
    default one per core for Gymnasium tasks, and none for other tasks, whose simulator already uses all cores."""
    address: str | None = None
    """The Ray cluster: auto, or HOST:PORT; without it, Ray is started on this machine."""
    cpus_per_worker: int | None = None
    """Cores per Ray worker; by default all cores of its node with ray, and one core with ray:N."""

    def __post_init__(self) -> None:
        optional_count(self, "cpus_per_worker")
        kind = self.parsed(gymnasium=False).kind
        for name in ("address", "cpus_per_worker"):
            if getattr(self, name) is not None and kind != "ray":
                raise ValueError(f"--{name.replace('_', '-')} is for Ray workers; add --workers ray")

    def parsed(self, *, gymnasium: bool) -> Workers:
        """The workers for a task of this sort."""
        if self.workers is None:
            return Workers(kind="local", count=cores()) if gymnasium and cores() > 1 else HERE
        kind, _, number = self.workers.partition(":") if isinstance(self.workers, str) else ("", "", "")
        if kind not in ("local", "ray") or (":" in self.workers and not number.isdecimal()):
            raise ValueError(f"--workers is local:N, ray or ray:N, got {self.workers!r}")
        count = int(number) if number else None
        if kind == "local":
            count = cores() if count is None else count
            return Workers(kind="local", count=count) if count else HERE
        if count == 0:
            raise ValueError("--workers ray:N needs at least one worker; leave it out to play the episodes here")
        return Workers(kind="ray", count=count, address=self.address, cpus=self.cpus_per_worker)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """How many workers, and where; a count of None means as many as the cluster has room for."""

    kind: Kind
    count: int | None = None
    address: str | None = None
    cpus: int | None = None


HERE = Workers(kind="none")  # episodes are played in this process
DEFAULT, HERE_ONLY = WorkersConfig(), WorkersConfig(workers="local:0")
