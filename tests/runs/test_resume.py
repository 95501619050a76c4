"""Resumed runs: killed at any moment, with damaged checkpoints, another configuration."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from dcrl.cli.main import command
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.config import differences
from dcrl.tasks import registry
from dcrl.tasks.fingerprint import fingerprint
from dcrl.version import __version__
from support.commands import COMMAND
from support.generations import DCRL, SMALL, assert_same, compose, original
from support.kills import EVALUATIONS, arguments, dcrl


def metrics(path: Path) -> list[dict[str, str]]:
    with open(path / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        del row["wall_seconds"]
    return rows


def killed(line: list[str], seconds: float) -> bool:
    """Run a command and kill it `seconds` after it began to train; whether it had not ended by itself."""
    with subprocess.Popen([COMMAND, *line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for said in process.stdout:
            if said.startswith("generation"):
                break
        time.sleep(seconds)
        still = process.poll() is None
        process.kill()
    return still


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["dcrl_me", "qd_pg", "me_es"])
def test_a_run_killed_at_any_moment_ends_as_if_it_had_not_been(name, tmp_path, own_cache):
    random = np.random.default_rng(sum(name.encode()))
    kept, whole = tmp_path / "kept", tmp_path / "whole" / "point_omni" / name / "seed-0"
    path = kept / "point_omni" / name / "seed-0"
    done = dcrl(*arguments(name, tmp_path / "whole", EVALUATIONS[name]))
    assert done.returncode == 0, done.stderr
    line, deaths = arguments(name, kept, EVALUATIONS[name]), 0
    for _ in range(2):
        deaths += killed(line, random.uniform(0, 0.8))
        line = ["resume", str(path), "--checkpoint-minutes", "0"]
    last = dcrl(*line)
    assert deaths
    assert last.returncode == 0, last.stderr
    for file in ("archive.safetensors", "actor.safetensors", "config.json"):
        assert (whole / file).exists() == (path / file).exists()
        if (whole / file).exists():
            assert (whole / file).read_bytes() == (path / file).read_bytes(), file
    assert metrics(whole) == metrics(path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A short run with two checkpoints, of generations 4 and 5."""
    output = tmp_path_factory.mktemp("runs")
    assert command([*arguments("dcrl_me", output, 96), "--quiet"]) == 0
    return output / "point_omni" / "dcrl_me" / "seed-0"


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """A copy of it that a test may damage."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def newest(run: Path, pattern: str) -> Path:
    return sorted((run / "checkpoints").glob(pattern))[-1]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


@pytest.mark.parametrize("pattern", ["generation-*.safetensors", "generation-*.json", "replay-*.safetensors"])
@pytest.mark.parametrize("damage", [flip, cut, Path.unlink], ids=["flipped bit", "truncated", "deleted"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(tmp_path, pattern, damage):
    states = original(DCRL).states
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    for state in states:
        checkpoints.save(state, {})
    damaged = newest(tmp_path, pattern)
    damage(damaged)
    warnings: list[str] = []
    found = Checkpoints(tmp_path / "checkpoints").load(compose(DCRL).empty_state(0), {}, warnings.append)
    assert_same(found, states[-2])
    if pattern.endswith("json") and damage is Path.unlink:  # the JSON file is written last: there is no checkpoint
        assert warnings == []
    else:
        (warning,) = warnings
        assert damaged.name in warning


def test_a_run_with_a_damaged_checkpoint_resumes_from_the_one_before(run, capsys):
    flip(newest(run, "generation-*.safetensors"))
    assert command(["resume", str(run), "--evaluations", "112", "--checkpoint-minutes", "0"]) == 0
    said = capsys.readouterr()
    assert "generation-00000005.safetensors is damaged: its checksum" in said.err
    assert "using an older checkpoint" in said.err
    assert "resumes after generation 4 of 6" in said.out
    assert [row["generation"] for row in metrics(run)] == list("0123456")
    assert command(["resume", str(run), "--evaluations", "128"]) == 0  # what was written since is intact
    assert capsys.readouterr().err == ""


def test_without_an_intact_checkpoint_nothing_is_touched(run, capsys):
    for file in (run / "checkpoints").glob("*.safetensors"):
        cut(file)
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    assert command(["resume", str(run), "--evaluations", "112"]) == 2
    assert "has no intact checkpoint to resume from; its archive and metrics are unchanged" in capsys.readouterr().err
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_a_run_that_is_done_is_left_alone(run, capsys):
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    assert command(["resume", str(run)]) == 0
    assert (
        "is complete: generation 5, 96 evaluations; --evaluations gives it a larger budget" in capsys.readouterr().out
    )
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_another_configuration_is_refused_field_by_field(run, capsys):
    config = json.loads((run / "config.json").read_text())
    config["seed"] = 7
    config["hyperparameters"]["td3"]["discount"] = 0.9
    (run / "config.json").write_text(json.dumps(config))
    assert command(["resume", str(run), "--evaluations", "112"]) == 2
    said = capsys.readouterr().err
    assert "configuration.hyperparameters.td3.discount was 0.99 and is now 0.9" in said
    assert "configuration.seed was 0 and is now 7" in said


def test_another_task_is_refused(tmp_path, monkeypatch, capsys):
    text = """
import dataclasses
from dcrl.tasks.point import point_omni
def reward(before, control, after):
    return 1.0 - {cost} * (control * control).sum(-1)
mine = dataclasses.replace(point_omni, name="mine", reward=reward, horizon={horizon})
"""
    monkeypatch.chdir(tmp_path)
    Path("task.py").write_text(text.format(cost=0.25, horizon=50))
    line = arguments("me", tmp_path, 48)
    line[1] = "task.py:mine"
    assert command([*line, "--quiet"]) == 0
    Path("task.py").write_text(text.format(cost=0.2, horizon=40))
    capsys.readouterr()
    assert command(["resume", "mine/me/seed-0", "--evaluations", "64", "--trust-task"]) == 2
    refusal = capsys.readouterr().err
    assert "task.horizon was 50 and is now 40; task.reward was" in refusal
    assert f"restore what it was started with (made with dcrl {__version__}" in refusal
    assert refusal.count("\n") == 1


def test_what_is_no_run_is_refused(tmp_path, capsys):
    assert command(["resume", str(tmp_path)]) == 2
    assert "it has no config.json; expected a directory of `dcrl train`" in capsys.readouterr().err


def test_a_run_has_one_process_at_a_time(run, capsys):
    line = [COMMAND, "resume", str(run), "--evaluations", "1000000"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for said in process.stdout:
            if "resumes" in said:
                break
        second = command(["resume", str(run), "--evaluations", "200"])
        process.kill()
    assert second == 2
    assert "is in use by process" in capsys.readouterr().err


@pytest.mark.parametrize("name", SMALL)
def test_every_algorithms_state_comes_back_as_it_was(name, tmp_path):
    run = original(SMALL[name])
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    for state in run.states:
        checkpoints.save(state, {"seed": 0})
        blank = compose(SMALL[name]).empty_state(0)
        assert_same(checkpoints.load(blank, {"seed": 0}, pytest.fail), state)
    assert len(list((tmp_path / "checkpoints").glob("*.json"))) == 2


def test_transitions_are_written_once(tmp_path):
    run = original(dataclasses.replace(DCRL, td3=dataclasses.replace(DCRL.td3, replay_size=100_000)))
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    written = []
    for state in run.states:
        checkpoints.save(state, {})
        pieces = sorted((tmp_path / "checkpoints").glob("replay-*"))
        written.append([(piece.name, piece.stat().st_mtime_ns) for piece in pieces])
    for before, after in itertools.pairwise(written):
        assert after[:-1] == before
    assert len(written[-1]) == len(run.states)


def test_differences_are_named():
    before = {"a": {"b": 1, "c": [1, 2]}, "d": None}
    assert list(differences(before, before)) == []
    now = {"a": {"b": 2, "c": [1, 3]}, "e": True}
    assert [str(each) for each in differences(before, now)] == [
        "a.b was 1 and is now 2",
        "a.c was [1, 2] and is now [1, 3]",
        "e was None and is now True",
    ]


def test_a_fingerprint_is_the_tasks_own():
    prints = {name: json.dumps(fingerprint(registry.get(name))) for name in registry.BUILT_IN}
    assert len(set(prints.values())) == len(prints)
    again = {name: json.dumps(fingerprint(registry.get(name))) for name in registry.BUILT_IN}
    assert again == prints
