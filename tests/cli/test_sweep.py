"""`dcrl sweep`: the runs of `dcrl train`, several at once, skipped when complete and gone on with when not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcrl.cli.main import command
from dcrl.cli.sweep_plan import plan
from dcrl.runs.lock import Lock, is_locked
from dcrl.sweeps.local import shares
from support.commands import COMMAND, HEEDING_INTERRUPTS
from support.small_runs import ARCHIVE, rows

SMALL = ("--ga-offspring", "16", *ARCHIVE)
FILES = ("archive.safetensors", "config.json")


def test_runs_are_those_of_train_and_complete_ones_are_left_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def sweep(*arguments: str, flags: tuple[str, ...] = SMALL) -> tuple[int, str, str]:
        line = ("sweep", "point_omni", "--algorithms", "me", "--output", str(tmp_path / "sweep"), *arguments)
        capfd.readouterr()
        return command([*line, "--", *flags]), *capfd.readouterr()

    code, output, error = sweep("--seeds", "0", "1", "--evaluations", "64", "--at-once", "2")
    assert code == 0, output + error
    assert re.findall(r"^(started|done) ", output, re.M) == ["started", "started", "done", "done"]
    here = tmp_path / "sweep" / "point_omni" / "me"
    assert "map" in (here / "seed-1.log").read_text()
    alone = ("train", "point_omni", "--algorithm", "me", "--seed", "1", "--evaluations", "64", "--quiet", *SMALL)
    assert command([*alone, "--output", str(tmp_path / "train")]) == 0
    for name in FILES:
        expected = tmp_path / "train" / "point_omni" / "me" / "seed-1" / name
        assert (here / "seed-1" / name).read_bytes() == expected.read_bytes()
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}

    code, output, _ = sweep("--seeds", "0", "1", "--evaluations", "79")  # not enough for one more generation
    assert (code, "started" in output) == (0, False)
    assert "complete     2\n  to resume    0" in output
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before
    _, output, _ = sweep("--seeds", "0", "2", "--evaluations", "80", "--dry-run")
    resumed, begun = output.splitlines()[-2:]
    assert f"resume {here / 'seed-0'} --evaluations 80" in resumed
    assert "train point_omni --algorithm me --seed 2 --evaluations 80" in begun
    code, output, error = sweep("--seeds", "0", "--evaluations", "80", flags=(*SMALL[:-2], "32", "32"))
    assert (code, output) == (2, "")
    assert f"{here / 'seed-0'} holds a run with another hidden: [16, 16], not [32, 32]" in error


@pytest.mark.slow
@pytest.mark.data
def test_ctrl_c_stops_the_runs_and_the_same_command_resumes_them(tmp_path: Path) -> None:
    arguments = (
        "sweep",
        "point_omni",
        "--algorithms",
        "me",
        "--seeds",
        "0",
        "--output",
        str(tmp_path),
        "--evaluations",
    )
    path = tmp_path / "point_omni" / "me" / "seed-0"
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, *arguments, "10000000", "--", *SMALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 120
        while not (path / "metrics.csv").exists() or len(rows(path)) < 3:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "it does not begin"
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output.endswith("interrupted; the same command resumes the sweep\n")
    assert "interrupted; the results so far are in" in (tmp_path / "point_omni" / "me" / "seed-0.log").read_text()
    reached = int(rows(path)[-1]["evaluations"])
    done = command([*arguments, str(reached + 32), "--", *SMALL])
    assert (done, int(rows(path)[-1]["evaluations"])) == (0, reached + 32)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("point_omni", "--algorithms", "meh"), "there is no algorithm 'meh'"),
        (("point_onmi",), "there is no task 'point_onmi'"),
        ((), "at least one task"),
        (("point_omni", "--seeds", "1", "1"), "given twice"),
        (("point_omni", "--seeds", "-1"), "a whole number from 0 to 2^32 - 1, got -1"),
        (("point_omni", "--evaluations", "-1"), "at least 1 evaluation, got -1"),
        (("point_omni", "--", "--seed", "5"), "--seed belongs to the sweep: put it before the --"),
        (("point_omni", "--at-once", "0"), "--at-once is at least 1, got 0"),
        (("point_omni", "--preset", "fast", "--algorithms", "dcrl_me", "me"), "fast is a configuration of dcrl_me"),
        (("point_omni", "--seeds", "0-x"), "seeds are numbers such as 3 or ranges such as 0-19, got '0-x'"),
        (("point_omni", "--seeds", "3-1"), "the end of a range of seeds must not be below its start"),
        (("nowhere.toml",), "there is no study nowhere.toml; write one, or use studies/paper.toml"),
        (("nowhere.toml", "point_omni"), "give tasks or one study's file, not both"),
        (("point_omni", "--address", "auto"), "--address belongs to --backend ray, got --backend local"),
        (("point_omni", "--gpus-per-run", "1"), "--gpus-per-run belongs to --backend ray or slurm"),
        (("point_omni", "--backend", "ray", "--memory-per-run", "0"), "a positive number of GiB, got 0"),
        (("point_omni", "--retries", "-1"), "--retries is at least 0, got -1"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: tuple[str, ...], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["sweep", "--output", str(tmp_path / "runs"), *arguments]) == 2
    output, error = capsys.readouterr()
    assert (output, error.count("\n")) == ("", 1)
    assert expected in error
    assert not (tmp_path / "runs").exists()


def test_a_study_does_not_set_what_belongs_to_the_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.toml").write_text("tasks = ['point_omni']\n[flags]\noverwrite = true\n")
    assert command(["sweep", str(tmp_path / "study.toml"), "--dry-run"]) == 2
    assert "--overwrite belongs to the sweep; it cannot be one of a study's flags" in capsys.readouterr().err


def test_a_run_that_fails_does_not_stop_the_others(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["sweep", "point_omni", "--algorithms", "me", "--seeds", "0", "--output", str(tmp_path)]
    assert command([*arguments, "--evaluations", "8", "--", *SMALL]) == 1
    said = capfd.readouterr().out
    assert "failed: me on point_omni, seed 0: dcrl: 8 evaluations are fewer than one batch of 16" in said


def test_seeds_come_one_after_another_and_cores_are_shared_out() -> None:
    tasks, names = ("point_omni", "ant_uni"), ("me", "pga_me")
    found = plan(
        tasks, chosen=names, seeds=["0-1"], passed_on=["--log", "tensorboard", "--threads", "1", "--workers", "local:1"]
    ).jobs
    order = [(job.config.seed, job.config.task, job.config.algorithm) for job in found]
    assert order == [(seed, task, name) for seed in (0, 1) for task in tasks for name in names]
    assert found[0].order.resume[4:] == ("--threads", "1", "--log", "tensorboard", "--workers", "local:1")
    assert shares(1) == [frozenset()]
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        assert sorted(core for share in shares(2) for core in share) == cores
    assert shares(len(cores) + 1) == [frozenset()] * (len(cores) + 1)


@pytest.mark.slow
@pytest.mark.data
def test_a_sweep_that_is_killed_takes_its_runs_with_it(tmp_path: Path) -> None:
    line = [COMMAND, "sweep", "point_omni", "--algorithms", "me", "--seeds", "0", "--evaluations", "10000000"]
    with subprocess.Popen([*line, "--output", tmp_path, "--", *SMALL], stdout=subprocess.DEVNULL) as process:
        run = tmp_path / "point_omni" / "me" / "seed-0"
        deadline = time.monotonic() + 120
        while not (run / "metrics.csv").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert is_locked(run)
        process.kill()
    while is_locked(run) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_locked(run)
    assert (run / "checkpoints").is_dir()


def test_a_failed_run_is_reported_with_its_own_reason(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ("train", "point_omni", "--algorithm", "me", "--evaluations", "32", "--quiet", *SMALL)
    assert command([*line, "--output", str(tmp_path)]) == 0
    held = Lock(tmp_path / "point_omni" / "me" / "seed-0")
    again = ("sweep", "point_omni", "--algorithms", "me", "--seeds", "0", "--evaluations", "64", "--output")
    try:
        assert command([*again, str(tmp_path), "--", *SMALL]) == 1
    finally:
        held.release()
    assert f"is in use by process {os.getpid()}" in capfd.readouterr().out
