"""Kill nodes, Ray workers, runs and drivers on a Ray cluster, and compare the results with those left alone.

    python benchmarks/cluster_kills.py --kills 50

By turns a sweep (`dcrl sweep --backend ray`) and one run whose episodes the cluster plays (`dcrl train --workers ray`).
The cluster is that of the tests: several nodes on this machine, of which the driver's is never killed. After each kill
a lost node is replaced and a killed driver's command is started again. Prints one line per kill and one per result.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.cluster import VARIABLES, RayCluster
from support.commands import COMMAND
from support.sweeps import SMALL, line, results

FLAGS = (*SMALL, "--checkpoint-minutes", "0")
SEEDS, EVALUATIONS = ("--seeds", "0-1"), ("--evaluations", "800")
TURNS = 2  # how often each kind of victim is killed before a result is compared
RUN_PROCESS, ACTOR = b"-m\0dcrl\0", b"ray::RayPlayer"  # in command lines: a run of a sweep, a worker that plays


def sweep(output: Path, address: str | None) -> list[str]:
    """The command line of a sweep; without an address, on this machine alone."""
    where = () if address is None else ("--retries", "1000", "--backend", "ray", "--address", address)
    return line(output, *SEEDS, *EVALUATIONS, *where, flags=FLAGS)


def one_run(output: Path, address: str | None) -> list[str]:
    """The command line that starts one run, or resumes it."""
    run = output / "point_omni" / "me" / "seed-0"
    where = () if address is None else ("--workers", "ray:2", "--address", address)
    if (run / "checkpoints").is_dir():
        return [str(COMMAND), "resume", str(run), "--checkpoint-minutes", "0", *where]
    start = ("train", "point_omni", "--algorithm", "me", "--seed", "0", *EVALUATIONS, "--output", str(output))
    return [str(COMMAND), *start, *where, *FLAGS]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is disturbed: its command line, the process to look for on the nodes, and what is killed of it."""

    name: str
    command: Callable[[Path, str | None], list[str]]
    process: bytes
    victims: tuple[str, ...]


KINDS = (
    Kind(name="sweep", command=sweep, process=RUN_PROCESS, victims=("node", "worker", "run", "driver")),
    Kind(name="run", command=one_run, process=ACTOR, victims=("node", "worker", "driver")),
)


class Disturbed:
    """A command on the cluster, and what can be killed of it."""

    def __init__(self, kind: Kind, cluster: RayCluster, output: Path) -> None:
        self.kind, self.cluster, self.output = kind, cluster, output
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        words = self.kind.command(self.output, self.cluster.address)
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | VARIABLES
        )

    @property
    def processes(self) -> list[int]:
        """Those on the nodes of this cluster: they inherit the variables of its nodes."""
        mark, found = str(self.cluster.directory).encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes() and self.kind.process in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
            except OSError:  # it has ended
                continue
        return found

    def kill(self, what: str) -> bool:
        """Kill one thing without grace; False if there is none at this moment."""
        if self.process.poll() is not None:
            return False
        if what == "node":
            self.cluster.remove(self.cluster.nodes.pop(0))
            self.cluster.nodes.append(self.cluster.add())
            return True
        if what == "driver":
            self.process.kill()
            self.process.communicate()
            self.process = self._start()
            return True
        try:
            found = self.processes[0]
            os.kill(_parent(found) if self.kind.name == "sweep" and what == "worker" else found, signal.SIGKILL)
        except (IndexError, OSError):
            return False
        return True

    def end(self) -> tuple[int, str]:
        """Wait for the end; exit code and output."""
        output, _ = self.process.communicate(timeout=1800)
        return self.process.returncode, output


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=2, help="in addition to the driver's")
    parser.add_argument("--longest", type=float, default=12, help="seconds between two kills, at most")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    flags = parser.parse_args()
    moments, begin = random.Random(flags.seed), time.monotonic()
    victims = {kind: cycle(kind.victims) for kind in KINDS}
    killed: Counter[str] = Counter()
    made = different = 0
    cluster = RayCluster(nodes=flags.nodes)
    try:
        with tempfile.TemporaryDirectory() as directory:
            expected = {kind: alone(kind, Path(directory) / f"{kind.name}-alone") for kind in KINDS}
            for kind in cycle(KINDS):
                if killed.total() >= flags.kills:
                    break
                output, before = Path(directory) / f"{kind.name}-{made}", killed.total()
                disturbed, what = Disturbed(kind, cluster, output), next(victims[kind])
                last = min(flags.kills, before + TURNS * len(kind.victims))  # then it is left to complete
                while disturbed.process.poll() is None and killed.total() < last:
                    time.sleep(moments.uniform(0, flags.longest))
                    if disturbed.kill(what):
                        killed[f"{what} of a {kind.name}"] += 1
                        seconds = time.monotonic() - begin
                        print(f"{seconds:5.0f} s  kill {killed.total()}: {what} of a {kind.name}", flush=True)
                        what = next(victims[kind])
                code, said = disturbed.end()
                same = code == 0 and results(output) == expected[kind]
                made, different = made + 1, different + (not same)
                word = "byte-identical" if same else f"DIFFERENT, exit code {code}: {said[-500:]}"
                count = f"{len(expected[kind])} files after {killed.total() - before} kills"
                print(f"{kind.name} of {count}: {word}", flush=True)
    finally:
        cluster.close()
    print("; ".join(f"{count} x {what}" for what, count in sorted(killed.items())))
    print(f"{killed.total()} kills, {different} of {made} results different, {time.monotonic() - begin:.0f} s")
    return min(different, 1)


def alone(kind: Kind, output: Path) -> dict[str, bytes]:
    """The results on this machine, undisturbed."""
    subprocess.run(kind.command(output, None), check=True, stdout=subprocess.DEVNULL)
    return results(output)


if __name__ == "__main__":
    sys.exit(main())
