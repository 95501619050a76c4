"""Kill nodes, Ray workers, runs and drivers of sweeps on a Ray cluster, and compare with sweeps left alone.

    python benchmarks/cluster_kills.py --kills 50

The cluster is that of the tests: several nodes on this machine, of which the driver's is never killed. After each kill
a lost node is replaced and a killed driver's command is started again. Prints one line per kill and one per sweep.
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
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.cluster import VARIABLES, RayCluster
from support.sweeps import SMALL, line, results

FLAGS = (*SMALL, "--checkpoint-minutes", "0")
BUDGET = ("--seeds", "0-1", "--evaluations", "4800", "--retries", "1000")
MARK = b"-m\0dcrl\0"  # in the command line of a run's process


class KilledSweep:
    """A sweep on the cluster, and what can be killed of it."""

    def __init__(self, cluster: RayCluster, output: Path) -> None:
        self.cluster, self.output = cluster, output
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        words = line(self.output, *BUDGET, "--backend", "ray", "--address", self.cluster.address, flags=FLAGS)
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | VARIABLES
        )

    @property
    def runs(self) -> list[int]:
        """The processes of runs on this cluster: they inherit the variables of its nodes."""
        mark, found = str(self.cluster.directory).encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes() and MARK in (path / "cmdline").read_bytes():
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
            run = self.runs[0]
            os.kill(run if what == "run" else _parent(run), signal.SIGKILL)
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
    moments, kinds = random.Random(flags.seed), cycle(("node", "worker", "run", "driver"))
    cluster, begin = RayCluster(nodes=flags.nodes), time.monotonic()
    kills = different = 0
    try:
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(line(Path(directory) / "alone", *BUDGET, flags=FLAGS), check=True, stdout=subprocess.DEVNULL)
            expected = results(Path(directory) / "alone")
            while kills < flags.kills:
                output = Path(directory) / f"killed-{kills}"
                sweep, before, what = KilledSweep(cluster, output), kills, next(kinds)
                while sweep.process.poll() is None and kills < flags.kills:
                    time.sleep(moments.uniform(0, flags.longest))
                    if sweep.kill(what):
                        kills += 1
                        print(f"{time.monotonic() - begin:5.0f} s  kill {kills}: {what}", flush=True)
                        what = next(kinds)
                code, said = sweep.end()
                same = code == 0 and results(output) == expected
                different += not same
                word = "byte-identical" if same else f"DIFFERENT, exit code {code}: {said[-500:]}"
                print(f"sweep of {len(expected)} files after {kills - before} kills: {word}", flush=True)
    finally:
        cluster.close()
    print(f"{kills} kills, {different} sweeps different, {time.monotonic() - begin:.0f} s")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
