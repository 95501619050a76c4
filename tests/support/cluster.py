"""A Ray cluster of several nodes on this machine, in a process of its own: the tests themselves never import Ray.

The head node has no cores, so jobs run on the other nodes only, and a driver on this machine belongs to the head.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

STORE_BYTES = 80 * 2**20
ATTEMPTS = 3  # Ray gives a node 15 seconds to start, which a busy machine may need longer for
VARIABLES = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "30",
    "RAY_worker_niceness": "0",  # Ray's own is 15: on a busy machine a worker would hardly start
}


class RayCluster:
    """Owns the process that owns the cluster, and a directory for Ray's files."""

    def __init__(self, nodes: int = 2, cpus: int = 1) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="dcrl-test-"))
        (self.directory / "ray").mkdir()
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | VARIABLES | {"RAY_TMPDIR": str(self.directory)},
        )
        self.cpus = cpus
        self.address: str = self._ask("start")
        self.nodes = [self.add() for _ in range(nodes)]

    def add(self) -> int:
        """Add a node; its number."""
        return int(self._ask("add", self.cpus))

    def remove(self, node: int) -> None:
        """Kill a node without grace."""
        self._ask("remove", node)

    def close(self) -> None:
        try:
            self._ask("close")
        finally:
            self._process.communicate(timeout=60)
            shutil.rmtree(self.directory, ignore_errors=True)

    def _ask(self, *words: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:  # Ray may print as well
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise RuntimeError(f"the cluster ended while asked to {words}")


def serve() -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    nodes: list[Any] = []

    def add(**options: Any) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                return cluster.add_node(object_store_memory=STORE_BYTES, include_dashboard=False, **options)
            except Exception:
                if attempt == ATTEMPTS - 1:
                    raise
        return None

    for line in sys.stdin:
        what, *rest = json.loads(line)
        answer: Any = None
        if what == "start":
            add(num_cpus=0)
            answer = cluster.address
        elif what == "add":
            nodes.append(add(num_cpus=rest[0]))
            answer = len(nodes) - 1
        elif what == "remove":
            cluster.remove_node(nodes[rest[0]], allow_graceful=False)
        elif what == "close":
            cluster.shutdown()
        print("answer", json.dumps(answer), flush=True)
        if what == "close":
            return


if __name__ == "__main__":
    serve()
