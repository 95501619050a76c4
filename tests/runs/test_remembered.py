"""The episodes that ASCII-MAP-Elites remembers are part of a checkpoint: a resumed run equals a straight one."""

from __future__ import annotations

import numpy as np

import dcrl
from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.algorithms.ascii_me import ASCIIConfig
from dcrl.variation.action_sequence import ActionSequenceConfig
from support.small_runs import rows

SMALL = ASCIIConfig(
    ga_offspring=6,
    ascii_offspring=6,
    archive=ArchiveConfig(cells=16, cvt_samples=100),
    ascii=ActionSequenceConfig(ascii_steps=3),
)


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    settings = {"algorithm": "ascii_me", "hidden": (8,), "hyperparameters": SMALL}
    straight = dcrl.train("point_omni", evaluations=48, output=tmp_path / "straight", **settings)
    dcrl.train("point_omni", evaluations=24, output=tmp_path / "parts", **settings)
    run = tmp_path / "parts" / "point_omni" / "ascii_me" / "seed-0"
    resumed = dcrl.resume(run, evaluations=48)
    np.testing.assert_array_equal(resumed.genotype, straight.genotype)
    np.testing.assert_array_equal(resumed.fitness, straight.fitness)
    timeless = [
        [{name: value for name, value in row.items() if name != "wall_seconds"} for row in rows(path)]
        for path in (run, tmp_path / "straight" / "point_omni" / "ascii_me" / "seed-0")
    ]
    assert timeless[0] == timeless[1]
    assert timeless[0][-1]["evaluations_ascii"] == "6"
