"""Growth: sizes that are what they say, exponents by hand, and the command with its figure."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dcrl.bench import growth
from dcrl.cli.main import command
from support.generations import ME, compose


def test_exponents_are_those_of_powers():
    first = growth._grown("cells", 10, {"add": 2.0, "train": 1.0}, None)
    assert (first.seconds, first.exponent, first.stage_exponents) == (3.0, None, {})
    second = growth._grown("cells", 40, {"add": 32.0, "train": 1.0}, first)
    assert second.stage_exponents == {"add": 2.0, "train": 0.0}
    assert second.exponent == np.log(11) / np.log(4)


def test_elites_move_into_an_archive_of_so_many_cells():
    algorithm = compose(ME)
    state, _ = algorithm.start(0)
    grown = growth.with_cells(state, algorithm.setting, 300)
    assert grown.archive.centroids.shape == (300, 2)
    assert grown.archive.max_fitness == state.archive.max_fitness
    assert 0 < grown.archive.occupied.sum() <= state.archive.occupied.sum()
    low, high = algorithm.setting.descriptor.low, algorithm.setting.descriptor.high
    assert (grown.archive.centroids > low).all()
    assert (grown.archive.centroids < high).all()


@pytest.mark.slow
def test_the_command_measures_and_draws(tmp_path, capsys):
    sizes = ("--offspring", "4", "8", "--cells", "16", "--episode", "--width")
    line = ["bench", "growth", "--task", "point_omni", *sizes, "--repeats", "1", "--json"]
    assert command([*line, "--figure", str(tmp_path / "growth.png")]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert [(one["axis"], one["size"]) for one in found] == [("offspring", 4), ("offspring", 8), ("cells", 16)]
    for one in found:
        assert set(one["stage_seconds"]) == {"train", "ga", "pg", "ai", "evaluate", "add"}
        assert one["seconds"] == sum(one["stage_seconds"].values()) > 0
    assert (tmp_path / "growth.png").stat().st_size > 1000
