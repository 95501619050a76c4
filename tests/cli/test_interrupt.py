"""Ctrl-C at any moment is one line and exit code 130; closed streams and the C locale are no error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from support.commands import COMMAND, HEEDING_INTERRUPTS

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUTF8"}


# Modules that `dcrl train` imports, from its first moment on; safetensors in the middle of dcrl.files
MOMENTS = ("dcrl.cli.interrupt", "safetensors.numpy", "jaxlib", "jax", "mujoco", "dcrl.runs.training")


@pytest.mark.parametrize("module", MOMENTS)
def test_an_interrupt_while_the_command_starts_is_one_line(module, tmp_path):
    """Python reports every import that is done, so that the moment does not depend on the machine's speed."""
    line = ["train", "point_omni", "--algorithm", "me", "--evaluations", "1000000", "--output", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-S", "-c", HEEDING_INTERRUPTS, COMMAND, *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | {"PYTHONPROFILEIMPORTTIME": "1"},
    ) as process:
        for said in process.stderr:
            if said.rpartition("|")[2].strip() == module:
                break
        else:
            pytest.fail(f"{module} is not imported: choose another moment")
        process.send_signal(signal.SIGINT)
        printed, complaint = process.communicate(timeout=120)
    own = [line for line in complaint.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, own) == (130, ["dcrl: interrupted"])
    assert printed == ""


def test_nothing_is_imported_before_interrupts_are_handled():
    """What Python has not loaded by itself would take time in which Ctrl-C ends in a traceback."""
    code = "import sys; before = {*sys.modules}; import dcrl_command; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["__future__", "dcrl_command"]


def test_closed_standard_streams_are_no_error():
    for line, closing in (("tasks", ">&-"), ("--help", "<&-"), ("--help", ">&- 2>&-"), ("--help", "<&- >&-")):
        done = subprocess.run(
            ["sh", "-c", f"exec {COMMAND} {line} {closing}"], capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), closing


def test_a_terminal_without_unicode_is_no_error():
    for line in (["tasks"], ["--help"], ["train", "--help"], ["tasks", "ant_omni"]):
        done = subprocess.run(
            [COMMAND, *line],
            capture_output=True,
            timeout=120,
            check=False,
            env=ENVIRONMENT | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        )
        assert (done.returncode, done.stderr) == (0, b""), line
        assert done.stdout.isascii()
