"""Recorded episodes: the memory that short ones take."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from dcrl.simulators.recorder import unplayed
from dcrl.types import Descriptor

ONE = Descriptor(names=("height",), unit="m", low=(0.0,), high=(1.0,), over="mean")


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_steps_that_were_not_played_take_no_memory():
    before = resident_bytes()
    episodes = unplayed(256, 1000, 245, 17, ONE)
    for each in (episodes.observation, episodes.action, episodes.reward, episodes.state_descriptor):
        each[:, :10] = 1.0
    taken = resident_bytes() - before
    assert episodes.observation.nbytes > 250e6
    assert 256 * 10 * 245 * 4 < taken < 30e6
    assert (episodes.observation[:, :10] == 1.0).all()
    assert episodes.observation.dtype == np.float32
    assert (episodes.observation.shape, episodes.action.shape) == ((256, 1001, 245), (256, 1000, 17))
