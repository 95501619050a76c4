"""Nodes, workers and drivers that are killed in the middle of a sweep on Ray: nothing is lost, nothing is different."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dcrl.runs.lock import is_locked
from support.cluster import VARIABLES, RayCluster
from support.commands import HEEDING_INTERRUPTS
from support.small_runs import rows
from support.sweeps import FILES, SMALL, line, results

pytestmark = [pytest.mark.slow, pytest.mark.data]
FLAGS = (*SMALL, "--checkpoint-minutes", "0")
BUDGET = ("--seeds", "0-1", "--evaluations", "2400")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    made = RayCluster(nodes=3)
    yield made
    made.close()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of a sweep on one machine that nobody disturbs."""
    output = tmp_path_factory.mktemp("expected")
    done = subprocess.run(line(output, *BUDGET, flags=FLAGS), capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
    return results(output)


def begin(cluster: RayCluster, output: Path, *arguments: str) -> subprocess.Popen[str]:
    words = line(output, *BUDGET, "--backend", "ray", "--address", cluster.address, *arguments, flags=FLAGS)
    return subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | VARIABLES,
    )


def until(what: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.1)


def runs(output: Path) -> list[Path]:
    return [output / "point_omni" / "me" / f"seed-{seed}" for seed in (0, 1)]


def under_way(output: Path) -> bool:
    return all((run / "metrics.csv").exists() and len(rows(run)) > 2 for run in runs(output))


def processes(cluster: RayCluster) -> list[int]:
    """The processes of runs on this cluster: they inherit the variables of its nodes."""
    mark, found = str(cluster.directory).encode(), []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            ours = mark in (path / "environ").read_bytes()
            if ours and b"-m\0dcrl\0" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("collect", [(), ("--collect",)], ids=["shared", "collected"])
def test_lost_nodes_and_workers_cost_only_time(
    cluster: RayCluster, tmp_path: Path, expected: dict[str, bytes], collect: tuple[str, ...]
) -> None:
    node = cluster.add()
    with begin(cluster, tmp_path, *collect) as process:
        until(lambda: under_way(tmp_path))
        os.kill(parent(processes(cluster)[0]), signal.SIGKILL)  # a worker of Ray
        for each in (node, cluster.nodes.pop()):
            cluster.remove(each)
        output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, output + errors
    assert "it is resumed" in output
    assert len(expected) == 2 * len(FILES)
    assert results(tmp_path) == expected
    until(lambda: not processes(cluster))


def test_a_killed_driver_and_ctrl_c_leave_checkpoints_for_any_backend(
    cluster: RayCluster, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    with begin(cluster, tmp_path) as process:
        until(lambda: under_way(tmp_path))
        process.kill()
    until(lambda: not any(map(is_locked, runs(tmp_path))))
    reached = [len(rows(run)) for run in runs(tmp_path)]
    with begin(cluster, tmp_path) as process:  # the same command again
        until(lambda: any(len(rows(run)) > before for run, before in zip(runs(tmp_path), reached, strict=True)))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, output + errors
    assert output.endswith("interrupted; the same command resumes the sweep\n")
    assert not any(map(is_locked, runs(tmp_path)))
    assert not processes(cluster)
    done = subprocess.run(
        line(tmp_path, *BUDGET, flags=FLAGS), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout
    counts = re.search(r"complete +(\d+)\n +to resume +(\d+)\n", done.stdout)
    assert counts is not None, done.stdout
    assert int(counts[1]) + int(counts[2]) == 2, done.stdout  # one of them may have ended before Ctrl-C
    assert results(tmp_path) == expected
