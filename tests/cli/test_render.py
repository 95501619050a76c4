"""`dcrl render` when it cannot draw: bad input, missing libraries, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcrl.cli.main import command
from dcrl.rendering import camera
from support.commands import COMMAND, HEEDING_INTERRUPTS
from support.random_runs import save_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_run(tmp_path_factory.mktemp("runs") / "point", "point_omni")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--output", "a.avi"), "ending in .mp4, .gif, .png, got .avi"),
        (("--output", "there.png"), "there.png exists already; --overwrite replaces it"),
        (("--output", "nowhere/a.png"), "there is no directory nowhere"),
        (("--output", "a.png", "--descriptor", "x,1"), "--descriptor is comma-separated numbers"),
        (("--output", "a.png", "--descriptor", "1"), "is 2 numbers"),
        (("--output", "a.png", "--descriptor", "9,9"), "from (-3.0, -3.0) to (3.0, 3.0), got [9.0, 9.0]"),
        (("--output", "a.png", "--cell", "12"), "a cell is a whole number from 0 to 11, got 12"),
        (("--output", "a.png", "--cell", "1", "--descriptor", "1,1"), "give one of the two"),
        (("--output", "a.png", "--actor"), "conditioned on a descriptor: give a descriptor"),
        (("--output", "a.png", "--seed", "-1"), "a seed is a whole number"),
        (("--output", "a.png", "--moments", "0"), "at least 1 moment"),
        (("--output", "a.gif", "--fps", "0"), "the frame rate must be above 0"),
        (("--output", "a.gif", "--speed", "inf"), "the playback speed must be above 0"),
        (("--output", "a.gif", "--seconds", "nan"), "the seconds to show must be above 0"),
        (("--output", "a.mp4", "--width", "97"), "the width and height of an .mp4 must be even, got 97"),
        (("--output", "a.png", "--width", "5"), "16 to 4096 pixels"),
        (("--output", "a.gif", "--montage"), "must end in .png"),
        (("--output", "a.png", "--montage", "--cell", "1"), "cannot be combined"),
        (("--output", "a.png", "--montage", "--width", "64"), "cannot be combined"),
        (("--output", "a.png", "--montage", "--regions", "0"), "1 to 20 regions"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, monkeypatch, capsys, arguments, expected):
    monkeypatch.chdir(tmp_path)
    Path("there.png").touch()
    assert command(["render", str(run), *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("dcrl: ")
    assert printed.err.count("\n") == 1
    assert expected in printed.err
    assert os.listdir() == ["there.png"]


def test_a_missing_ffmpeg_is_named(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert command(["render", str(run), "--output", str(tmp_path / "a.mp4")]) == 2
    assert capsys.readouterr().err.startswith("dcrl: an .mp4 needs the package imageio-ffmpeg: pip install")
    assert os.listdir(tmp_path) == []


def test_missing_opengl_is_named(run, tmp_path):
    done = subprocess.run(
        [COMMAND, "render", run, "--output", tmp_path / "a.gif"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MUJOCO_GL": "unheard-of"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dcrl: this machine cannot render: set the environment variable MUJOCO_GL")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not camera.available(), reason="needs OpenGL")
def test_an_interrupted_video_leaves_nothing(run, tmp_path):
    output, scratch = tmp_path / "out", tmp_path / "scratch"
    output.mkdir()
    scratch.mkdir()
    long = ["--width", "96", "--height", "64", "--speed", "0.001"]
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, "render", run, "--output", output / "long.mp4", *long],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(scratch)},
    ) as process:
        deadline = time.monotonic() + 120
        while not list(scratch.glob("*/video.mp4")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed, error = process.communicate(timeout=60)
    assert (process.returncode, printed, error) == (130, "", "dcrl: interrupted\n")
    assert os.listdir(output) == os.listdir(scratch) == []
