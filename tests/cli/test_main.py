"""The installed command, run as users run it: what it prints, its exit codes, and one sentence for bad input."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mujoco.batch import Batch
from packaging.requirements import Requirement

import dcrl
from dcrl.bench.rollouts import bare_physics, measure_rollouts
from dcrl.cli import doctor
from dcrl.cli.doctor import EXTRAS
from dcrl.cli.main import COMMANDS, command
from dcrl.networks.policies import policy_layers
from dcrl.simulators.mujoco import MujocoSimulator, start_states
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.hopper import hopper_uni
from dcrl.tasks.point import point_omni
from support.commands import COMMAND, HEEDING_INTERRUPTS, ran

Said = Callable[..., tuple[int, str, str]]

MALFORMED = """
import dataclasses, mujoco
from dcrl.tasks.point import point_omni
task = dataclasses.replace(point_omni, robot=lambda: mujoco.MjSpec.from_string("<mujoco><worldbdy/></mujoco>"))
"""
NO_ENVIRONMENT = """
import dcrl
here = dcrl.Descriptor(names=("x",), unit="m", low=(0.0,), high=(1.0,), over="mean")
task = dcrl.GymnasiumTask(name="own", summary="", environment="Swimer-v5", descriptor=here, step_descriptor=len)
"""


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`said(*arguments)`: exit code, stdout and stderr of a command line, without a process of its own."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = command(arguments)
        except SystemExit as exit:
            code = int(exit.code or 0)
        return code, *capsys.readouterr()

    return run


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a command that must be refused."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dcrl: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def listed(*arguments: str) -> Any:
    done = ran(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_version_is_the_packages() -> None:
    assert ran("--version").stdout == f"dcrl {version('dcrl-map-elites')}\n"


def test_help_names_every_verb(said: Said) -> None:
    code, text, error = said("--help")
    assert (code, error) == (0, "")
    assert all(f"  {name} " in text and summary in text for name, summary in COMMANDS.items())


WRITING = ("train", "resume", "sweep", "export", "explore")  # commands that write files or serve a page


@pytest.mark.parametrize("name", [*(name for name in COMMANDS if name != "bench"), "bench rollout", "bench generation"])
def test_every_command_explains_every_flag(said: Said, name: str) -> None:
    code, text, error = said(*name.split(), "--help")
    assert (code, error) == (0, "")
    assert f"usage: dcrl {name}" in text
    flags = re.findall(r"^\W+ (--[a-z][a-z.-]*)", text, re.MULTILINE)
    assert ("--json" in flags) != (name in WRITING)
    assert len(re.findall(r"\((default|required|repeatable|optional)", text)) >= len(flags)


def test_bench_says_what_it_measures(said: Said) -> None:
    code, text, error = said("bench", "--help")
    assert (code, error) == (0, "")
    assert "dcrl bench rollout" in text
    assert "dcrl bench generation" in text
    assert "bench measures rollout or generation, got 'rollouts'" in refused(ran("bench", "rollouts"))


def test_an_unknown_command_is_refused_with_a_suggestion() -> None:
    assert "unknown command 'taks'. Did you mean tasks? Commands: " in refused(ran("taks"))


def test_an_unknown_task_is_refused_with_a_suggestion_and_the_list() -> None:
    expected = "there is no task 'ant_onmi'; did you mean ant_omni? Known tasks: ant_omni, anttrap_omni, "
    assert expected in refused(ran("tasks", "ant_onmi"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "dcrl: a command is missing. Commands: "),
        (("zzz",), "dcrl: unknown command 'zzz'. Commands: "),
        (("check-task", "ant_onmi"), "dcrl: there is no task 'ant_onmi'; did you mean ant_omni?"),
        (("bench", "rollout", "--tasks", "ant_onmi"), "dcrl: there is no task 'ant_onmi'; did you mean ant_omni?"),
        (("bench", "rollout", "--policies", "0"), "dcrl: the number of policies must be at least 1, got 0"),
        (("bench", "rollout", "--threads", "-1"), "dcrl: the number of threads must be at least 1, got -1"),
        (("bench", "rollout", "--policies", "many"), "--policies"),
        (("bench", "hare"), "rollout"),
        (("check-task",), "check-task"),
    ],
)
def test_bad_input_is_explained_with_exit_code_2(said: Said, arguments: tuple[str, ...], expected: str) -> None:
    code, _, error = said(*arguments)
    assert code == 2
    assert expected in error


def test_a_bad_flag_is_refused_with_a_suggestion() -> None:
    done = ran("tasks", "--jsn")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_task_lists_what_holds(said: Said) -> None:
    code, text, error = said("check-task", "point_omni")
    assert (code, error) == (0, "")
    assert text.count("✓") == 16
    assert text.endswith("point_omni: every check passed\n")


def test_check_task_lists_what_is_wrong(tmp_path: Path, said: Said) -> None:
    (tmp_path / "own.py").write_text(MALFORMED)
    broken = ran("check-task", "own.py:task", cwd=tmp_path)
    assert (broken.returncode, broken.stderr) == (2, "")
    assert "✗ model: robot raises ValueError: XML Error" in broken.stdout
    assert "worldbdy" in broken.stdout
    assert broken.stdout.endswith("own.py:task: 1 of 2 checks failed\n")
    code, text, _ = said("check-task", f"{tmp_path}/own.py:task", "--json")
    statuses = [(finding["check"], finding["status"]) for finding in json.loads(text)]
    assert (code, statuses) == (2, [("load", "ok"), ("model", "failed")])


def test_a_malformed_model_is_a_sentence_for_other_verbs_too(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(MALFORMED)
    done = ran("bench", "rollout", "--tasks", "own.py:task", "--json", cwd=tmp_path)
    assert "worldbdy" in refused(done)


def test_a_gymnasium_id_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(NO_ENVIRONMENT)
    done = ran("tasks", "own.py:task", cwd=tmp_path)
    assert "task own: Gymnasium has no environment 'Swimer-v5'" in refused(done)


def test_python_refuses_policies_that_cannot_be_played() -> None:
    size = policy_layers(point_omni.observation_size, point_omni.action_size).parameters
    with pytest.raises(ValueError, match=rf"genotypes for point_omni must be \(B, {size}\).*got \(2, {size - 1}\)"):
        dcrl.rollout("point_omni", np.zeros((2, size - 1)))
    with pytest.raises(ValueError, match="policy 1 of 2 has NaN or infinite parameters"):
        dcrl.rollout("point_omni", np.stack([np.zeros(size), np.full(size, np.nan)]))


def test_doctor_finds_this_installation_in_order() -> None:
    found = listed("doctor")
    assert found["versions"]["mujoco"] == version("mujoco")
    status = {check["what"]: check["status"] for check in found["checks"]}
    assert {status[what] for what in ("packages", "cores", "jax devices", "rollout")} == {"ok"}
    assert set(status.values()) <= {"ok", "missing"}
    sentences = {check["what"]: check["sentence"] for check in found["checks"]}
    assert f"onnx {version('onnx')}, onnxruntime {version('onnxruntime')}, for `dcrl export" in sentences["onnx"]
    assert set(EXTRAS) <= set(status)


def test_doctor_knows_every_extra_and_what_it_gives(monkeypatch) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    declared = {
        name: tuple(Requirement(need).name for need in needs)
        for name, needs in project["optional-dependencies"].items()
        if name not in ("dev", "mjx", "render")
    }
    assert {name: EXTRAS[name][0] for name in declared} == declared
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    symptom = doctor._checked("onnx", lambda: doctor._extra("onnx", *EXTRAS["onnx"]))
    assert symptom.status == "missing"
    assert symptom.sentence.startswith(
        "onnx, onnxruntime not installed; pip install 'dcrl-map-elites[onnx]' adds `dcrl"
    )


def test_bench_reports_what_it_ran() -> None:
    found = listed("bench", "rollout", "--tasks", "point_omni", "--policies", "8", "--repeats", "2", "--threads", "1")
    assert found["versions"]["mujoco"] == version("mujoco")
    assert found["cores"] == len(os.sched_getaffinity(0))
    (row,) = found["results"]
    assert (row["task"], row["policies"], row["threads"], row["steps"]) == ("point_omni", 8, 1, 8 * 50)
    assert row["ratios"] == [a / b for a, b in zip(row["rollout_seconds"], row["bare_seconds"], strict=True)]
    assert row["ratio"] == np.median(row["ratios"])
    assert row["steps_per_second"] * row["microseconds_per_step"] == pytest.approx(1e6)


def test_bare_physics_lives_the_recorded_episodes_again() -> None:
    """The comparison is fair only if both sides step the very same states."""
    layers = policy_layers(hopper_uni.observation_size, hopper_uni.action_size)
    genotypes = np.random.default_rng(0).normal(scale=0.1, size=(5, layers.parameters)).astype(np.float32)
    starts = start_keys(range(5), 5)
    with MujocoSimulator(hopper_uni, 1) as simulator:
        episodes = simulator.play(genotypes, starts, layers, record=True).transitions
    assert episodes is not None
    assert len(set(episodes.steps.tolist())) > 1
    batch = Batch(hopper_uni.model, 5, 2, persistent=True)
    assert bare_physics(hopper_uni, batch, episodes, *start_states(hopper_uni, starts)) > 0
    last = episodes.observation[np.arange(5), episodes.steps]
    np.testing.assert_array_equal(last[:, 0], batch.bind("qpos")[:, 1].astype(np.float32))  # the torso's height


def test_a_measurement_needs_something_to_measure() -> None:
    with pytest.raises(ValueError, match="at least one task, got none"):
        measure_rollouts((), 1, 1, 1)


def test_a_reader_that_has_seen_enough_is_told_nothing() -> None:
    with subprocess.Popen([COMMAND, "tasks", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


def test_an_interrupt_is_one_line_and_exit_code_130(tmp_path: Path) -> None:
    """The task's file waits for the interrupt as it is imported."""
    (tmp_path / "slow.py").write_text("import pathlib, time\npathlib.Path('reached').touch()\ntime.sleep(60)\n")
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, "tasks", "slow.py:task"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "reached").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (130, "", "dcrl: interrupted\n")
