"""`dcrl sweep --backend slurm`: the script it writes, executed by a stand-in for Slurm; no real one was at hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcrl.runs.lock import is_locked
from support.small_runs import rows
from support.sweeps import FILES, SMALL, line, results

SBATCH = """#!{python}
import os, re, subprocess, sys
text = sys.stdin.read()
last = int(re.search(r"^#SBATCH --array=0-(\\d+)", text, re.M).group(1))
here = os.path.dirname(os.path.abspath(__file__))
open(f"{{here}}/script.sh", "w").write(text)
for index in range(last + 1):
    names = {{"SLURM_ARRAY_TASK_ID": str(index), "SLURM_ARRAY_JOB_ID": "42"}}
    code = f'bash {{here}}/script.sh; rm {{here}}/element-{{index}}'
    open(f"{{here}}/element-{{index}}", "w").close()
    subprocess.Popen(["bash", "-c", code], env=os.environ | names, start_new_session=True,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("42;cluster")
"""
SQUEUE = """#!{python}
import os
here = os.path.dirname(os.path.abspath(__file__))
print("\\n".join(name.rpartition("-")[2] for name in os.listdir(here) if name.startswith("element-")))
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Path:
    """A directory of commands that do as Slurm does."""
    place = tmp_path / "bin"
    place.mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE)):
        (place / name).write_text(text.format(python=sys.executable))
        (place / name).chmod(0o755)
    return place


def sweep(output: Path, *arguments: str, place: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"] if place is None else f"{place}:{os.environ['PATH']}"
    words = line(output, "--backend", "slurm", *arguments)
    environment = os.environ | {"PATH": path}
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_the_script_says_what_slurm_needs(tmp_path: Path) -> None:
    asked = ("--at-once", "4", "--cpus-per-run", "2", "--gpus-per-run", "1", "--memory-per-run", "1.5")
    options = ("--time-limit", "1:00:00", "--sbatch", "partition=cpu", "account=robots")
    done = sweep(tmp_path / "my runs", "--seeds", "0-19", "--evaluations", "64", *asked, *options)
    assert (done.returncode, done.stderr) == (0, "")
    directives = [row.removeprefix("#SBATCH --") for row in done.stdout.splitlines() if row.startswith("#SBATCH")]
    assert directives == [
        "job-name=dcrl",
        "array=0-19%4",
        "requeue",
        "signal=B:USR1@300",
        "open-mode=append",
        f"output='{tmp_path}/my runs/slurm-%A_%a.log'",
        "cpus-per-task=2",
        "gres=gpu:1",
        "mem=1536M",
        "time=1:00:00",
        "partition=cpu",
        "account=robots",
    ]
    assert f"resume '{tmp_path}/my runs/point_omni/me/seed-19' --evaluations 64" in done.stdout
    assert 'scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' in done.stdout
    subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=True)


@pytest.mark.slow
@pytest.mark.data
def test_a_submitted_array_trains_the_runs_of_one_machine(tmp_path: Path, slurm: Path) -> None:
    here = sweep(tmp_path / "slurm", "--seeds", "0", "--evaluations", "64", "--submit", place=slurm)
    assert here.returncode == 0, here.stdout + here.stderr
    assert "submitted as job array 42" in here.stdout
    words = line(tmp_path / "local", "--seeds", "0", "--evaluations", "64")
    subprocess.run(words, capture_output=True, timeout=300, check=True)
    expected = results(tmp_path / "local")
    assert len(expected) == len(FILES)
    assert results(tmp_path / "slurm") == expected
    failed = sweep(tmp_path / "failing", "--seeds", "0", "--evaluations", "8", "--submit", place=slurm)
    assert failed.returncode == 1
    assert "failed: me on point_omni, seed 0: dcrl: 8 evaluations are fewer than one batch of 16" in failed.stdout


@pytest.mark.slow
@pytest.mark.data
def test_a_run_near_its_time_limit_leaves_a_checkpoint_and_is_requeued(tmp_path: Path) -> None:
    budget = ("--seeds", "0", "--evaluations", "3200")
    flags = (*SMALL, "--checkpoint-minutes", "0")
    words = line(tmp_path / "slurm", "--backend", "slurm", *budget, flags=flags)
    text = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True).stdout
    (tmp_path / "scontrol").write_text(f"#!/bin/bash\necho $@ > {tmp_path}/requeued\n")
    (tmp_path / "scontrol").chmod(0o755)
    names = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_JOB_ID": "42", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "script.sh").write_text(text)
    run = tmp_path / "slurm" / "point_omni" / "me" / "seed-0"
    with subprocess.Popen(["bash", tmp_path / "script.sh"], env=os.environ | names) as process:
        deadline = time.monotonic() + 120
        while not (run / "metrics.csv").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGUSR1)
        process.wait(timeout=120)
    assert (tmp_path / "requeued").read_text() == "requeue 42_0\n"
    assert not is_locked(run)
    assert 0 < len(rows(run)) < 200
    subprocess.run(["bash", tmp_path / "script.sh"], env=os.environ | names, timeout=300, check=True)
    subprocess.run(line(tmp_path / "local", *budget, flags=flags), capture_output=True, timeout=300, check=True)
    assert results(tmp_path / "slurm") == results(tmp_path / "local")


def test_without_slurm_submitting_is_refused(tmp_path: Path) -> None:
    done = sweep(tmp_path, "--seeds", "0", "--evaluations", "64", "--submit")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no sbatch on this machine" in done.stderr
