"""Ctrl-C at any moment is one line and exit code 130; closed streams and the C locale are no error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from support.commands import COMMAND, HEEDING_INTERRUPTS

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUTF8"}


@pytest.mark.parametrize("seconds", [0.15, 0.3, 0.7, 1.0, 1.5, 2.5])
def test_an_interrupt_while_the_command_starts_is_one_line(seconds, tmp_path):
    line = [
        "train",
        "point_omni",
        "--algorithm",
        "me",
        "--evaluations",
        "1000000",
        "--output",
        str(tmp_path),
        "--quiet",
    ]
    with subprocess.Popen(
        [sys.executable, "-S", "-c", HEEDING_INTERRUPTS, COMMAND, *line], stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert len(complaint.split("\n\n")) <= 2
    assert complaint.strip().count("\n") == 0


def test_closed_standard_streams_are_no_error():
    for closing in (">&-", "<&-", ">&- 2>&-", "<&- >&-"):
        done = subprocess.run(
            ["sh", "-c", f"exec {COMMAND} tasks {closing}"], capture_output=True, text=True, timeout=120, check=False
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
