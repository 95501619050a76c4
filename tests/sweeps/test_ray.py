"""`dcrl sweep --backend ray` on a real cluster of several nodes: the same results as on one machine."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from dcrl.cluster.connection import PREFIX
from support.cluster import VARIABLES, RayCluster
from support.sweeps import FILES, line, results


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    made = RayCluster(nodes=2)
    yield made
    made.close()
    assert not made.directory.exists()


def sweep(output: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | VARIABLES
    return subprocess.run(
        line(output, *arguments), capture_output=True, text=True, timeout=300, check=False, env=environment
    )


@pytest.mark.slow  # test_kills.py compares the same, while nodes are killed
def test_runs_on_a_cluster_are_those_of_one_machine(cluster: RayCluster, tmp_path: Path) -> None:
    here = sweep(tmp_path / "local", "--seeds", "0-1", "--evaluations", "64", "--at-once", "2")
    assert here.returncode == 0, here.stdout + here.stderr
    arguments = ("--seeds", "0-1", "--backend", "ray", "--address", cluster.address)
    shared = sweep(tmp_path / "shared", *arguments, "--evaluations", "64")
    assert (shared.returncode, shared.stderr) == (0, ""), shared.stdout
    collected = sweep(tmp_path / "collected", *arguments, "--evaluations", "48", "--collect")
    assert (collected.returncode, collected.stderr) == (0, ""), collected.stdout
    collected = sweep(tmp_path / "collected", *arguments, "--evaluations", "64", "--collect")  # from what was collected
    assert (collected.returncode, "to resume    2" in collected.stdout) == (0, True), collected.stdout
    expected = results(tmp_path / "local")
    assert len(expected) == 2 * len(FILES)
    assert results(tmp_path / "shared") == expected
    assert results(tmp_path / "collected") == expected
    assert "map" in (tmp_path / "collected" / "point_omni" / "me" / "seed-1.log").read_text()


@pytest.mark.slow
@pytest.mark.data
def test_a_run_that_is_refused_fails_with_its_reason_and_room_is_checked(cluster: RayCluster, tmp_path: Path) -> None:
    arguments = ("--seeds", "0", "--backend", "ray", "--address", cluster.address)
    done = sweep(tmp_path, *arguments, "--evaluations", "8")
    assert done.returncode == 1
    reason = f"node {platform.node()}: dcrl: 8 evaluations are fewer than one batch of 16"
    assert f"failed: me on point_omni, seed 0: {reason}" in done.stdout
    refused = sweep(tmp_path, *arguments, "--evaluations", "64", "--gpus-per-run", "1")
    assert refused.returncode == 2
    assert refused.stderr.startswith("dcrl: no node of the cluster has room for a run, which needs 1 cores, 1 GPUs")
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.data
def test_ray_is_started_on_this_machine_and_leaves_nothing(tmp_path: Path) -> None:
    """Also where the directory of temporary files has a name that is too long for sockets."""
    temporary = tmp_path / "a-long-name-for-temporary-files"
    temporary.mkdir()
    words = line(tmp_path / "runs", "--seeds", "0", "--evaluations", "32", "--backend", "ray")
    environment = os.environ | VARIABLES | {"TMPDIR": str(temporary)}
    with subprocess.Popen(words, stdout=PIPE, stderr=PIPE, text=True, env=environment) as process:
        output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, ""), output
    mark = f"{PREFIX}{process.pid}-"
    assert [*temporary.iterdir(), *Path("/tmp").glob(f"{mark}*")] == []
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _content(path)]
    assert left == []


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_wrong_address_is_one_sentence(tmp_path: Path) -> None:
    arguments = ("--backend", "ray", "--address", "127.0.0.1:9")
    done = sweep(tmp_path / "runs", "--seeds", "0", "--evaluations", "32", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no Ray cluster at 127.0.0.1:9: " in done.stderr
    assert not (tmp_path / "runs").exists()
