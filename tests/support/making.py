"""Small repertoires made by hand, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.networks.policies import Layers
from dcrl.types import Descriptor

FORMAT_1 = Path(__file__).parents[1] / "runs" / "data" / "format-1"  # a run of the first file format
ARRAYS = ("centroids", "occupied", "fitness", "descriptor", "genotype")
SPACE = Descriptor(names=("x", "y"), unit="m", low=(0.0, 0.0), high=(4.0, 2.0), over="last")


def made(fitness: list[float], places: list[tuple[float, float]] | None = None, **other) -> dcrl.Repertoire:
    """Four cells along x, with centroids at 0.5, 1.5, 2.5 and 3.5; NaN makes one empty."""
    middle = np.array([[0.5, 1], [1.5, 1], [2.5, 1], [3.5, 1]], np.float32)
    value = np.array(fitness, np.float32)
    there = ~np.isnan(value)
    spots = np.where(there[:, None], middle if places is None else np.array(places, np.float32), np.nan)
    values = {
        "task": "line",
        "layers": Layers((1, 1)),
        "space": SPACE,
        "centroids": middle,
        "occupied": there,
        "fitness": value,
        "descriptor": spots.astype(np.float32),
        "genotype": np.where(there[:, None], value[:, None] * [1, 10], 0).astype(np.float32),
    }
    return dcrl.Repertoire(**(values | other))


def assert_same(a: dcrl.Repertoire, b: dcrl.Repertoire) -> None:
    for name in ARRAYS:
        assert getattr(a, name).dtype == getattr(b, name).dtype
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert (a.task, a.layers, a.space) == (b.task, b.layers, b.space)


def ran(*arguments: object) -> int:
    return command([str(argument) for argument in arguments])


def refused(capsys, *arguments: object) -> str:
    """The one line of a refusal."""
    assert ran(*arguments) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.startswith("dcrl: ")
    return said.err


def refusal(path: Path) -> str:
    """The one sentence with which loading a file fails; it names the file."""
    with pytest.raises(ValueError) as caught:
        dcrl.load(path)
    assert type(caught.value) is ValueError
    sentence = str(caught.value)
    assert path.name in sentence
    assert "\n" not in sentence
    assert len(sentence) < 600
    return sentence
