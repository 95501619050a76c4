"""Ctrl-C while a video is encoded cleans up, whatever the program does with Ctrl-C elsewhere."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator

import numpy as np
import pytest

from dcrl.rendering import encoding


def interrupted_pictures() -> Iterator[np.ndarray]:
    for number in range(10):
        if number == 5:
            signal.raise_signal(signal.SIGINT)
        yield np.zeros((16, 16, 3), np.uint8)


def test_an_interrupted_video_leaves_no_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended: list[int] = []

    def end_at_once(number: int, frame: object) -> None:
        ended.append(number)

    before = signal.signal(signal.SIGINT, end_at_once)
    try:
        with pytest.raises(KeyboardInterrupt):
            encoding.mp4(interrupted_pictures(), 10)
        assert signal.getsignal(signal.SIGINT) is end_at_once
    finally:
        signal.signal(signal.SIGINT, before)
    assert not ended
    assert os.listdir(tmp_path) == []


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert encoding.mp4(interrupted_pictures(), 10)[4:8] == b"ftyp"
    finally:
        signal.signal(signal.SIGINT, before)


def test_ffmpeg_says_why_it_failed():
    odd = iter([np.zeros((15, 15, 3), np.uint8)])
    with pytest.raises(ValueError, match=r"ffmpeg could not write the video: .*not divisible by 2"):
        encoding.mp4(odd, 10)
