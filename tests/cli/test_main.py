"""The installed command, run as users run it: what it prints, its exit codes, and one sentence for bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.cli.main import COMMANDS, command
from dcrl.networks.policies import policy_layers
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


def test_help_names_every_command(said: Said) -> None:
    code, text, error = said("--help")
    assert (code, error) == (0, "")
    assert all(f"  {name} " in text and summary in text for name, summary in COMMANDS.items())


WRITING = ("train", "resume", "sweep", "export", "explore")  # commands that write files or serve a page


@pytest.mark.parametrize("name", [*(name for name in COMMANDS if name != "bench"), "bench rollout", "bench generation"])
def test_every_command_explains_every_flag(said: Said, name: str) -> None:
    code, text, error = said(*name.split(), "--help")
    assert (code, error) == (0, "")
    usage = text.partition("\n\n")[0]
    assert usage.startswith(f"usage: dcrl {name}")
    arguments = re.sub(r"--\S+ [^\s\]]+", "", usage)
    assert not re.search(r"\b(STR|INT|PATH)\b", arguments)  # an argument is called what it is
    flags = re.findall(r"^\W+ (--[a-z][a-z.-]*)", text, re.MULTILINE)
    assert ("--json" in flags) != (name in WRITING)
    assert len(re.findall(r"\((default|required|repeatable|optional)", text)) >= len(flags)


def test_bench_says_what_it_measures(said: Said) -> None:
    code, text, error = said("bench", "--help")
    assert (code, error) == (0, "")
    assert "dcrl bench rollout" in text
    assert "dcrl bench generation" in text
    refusal = "dcrl: bench measures rollout, generation or growth, got 'rollouts'\n"
    assert said("bench", "rollouts") == (2, "", refusal)


def test_an_unknown_command_is_refused_with_a_suggestion() -> None:
    assert "unknown command 'taks'. Did you mean tasks? Commands: " in refused(ran("taks"))


def test_an_unknown_task_is_refused_with_a_suggestion_and_the_list(said: Said) -> None:
    expected = "dcrl: there is no task 'ant_onmi'; did you mean ant_omni? Known tasks: ant_omni, anttrap_omni, "
    code, text, error = said("tasks", "ant_onmi")
    assert (code, text, error.count("\n")) == (2, "", 1)
    assert error.startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "dcrl: a command is missing. Commands: "),
        (("zzz",), "dcrl: unknown command 'zzz'. Commands: "),
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


def test_a_malformed_model_is_a_sentence_for_other_commands_too(tmp_path: Path) -> None:
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


def test_a_closed_pipe_prints_no_error() -> None:
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
