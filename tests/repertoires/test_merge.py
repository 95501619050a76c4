"""Repertoires merged: by hand, and with the command on small real runs."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import dcrl
from dcrl.archive.cells import cell_of
from dcrl.networks.policies import Layers
from dcrl.repertoires.merge import merge
from dcrl.repertoires.save import save
from support.making import SPACE, assert_same, made, ran, refused


def test_merging_by_hand(tmp_path):
    first = made([1, 5, np.nan, np.nan], algorithm="me", seed=1, evaluations=10, actor_parameters=np.zeros(4))
    second = made([2, 4, 3, np.nan], algorithm="me", seed=2, evaluations=30)
    third = made([2, np.nan, 1, np.nan], algorithm="me", seed=3, evaluations=2)
    merged = merge([first, second, third])
    np.testing.assert_array_equal(merged.fitness, [2, 5, 3, np.nan])
    np.testing.assert_array_equal(merged.genotype, [[2, 20], [5, 50], [3, 30], [0, 0]])
    assert (merged.algorithm, merged.seed, merged.evaluations, merged.actor_parameters) == ("me", None, 42, None)
    save(tmp_path / "merged.safetensors", merged)
    assert_same(dcrl.load(tmp_path / "merged.safetensors"), merged)
    other = dataclasses.replace(second, algorithm="dcrl_me", evaluations=None)
    assert (merge([first, other]).algorithm, merge([first, other]).evaluations) == (None, None)


def test_of_equal_elites_the_firsts_stays():
    second = made([5, np.nan, np.nan, np.nan], [(0.1, 0.1)] + [(0, 0)] * 3)
    assert_same(merge([made([5, 1, 1, 1]), second]), made([5, 1, 1, 1]))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"task": "plane"}, "its task is 'plane', the first one's is 'line'"),
        ({"layers": Layers((1, 2))}, r"its layers are \[1, 2\], the first one's are \[1, 1\]"),
        (
            {"space": dataclasses.replace(SPACE, high=(4.0, 3.0))},
            r"its descriptor's high is \(4.0, 3.0\), the first one's is \(4.0, 2.0\)",
        ),
        ({"space": dataclasses.replace(SPACE, over="mean")}, "its descriptor's over is 'mean'"),
    ],
)
def test_repertoires_that_do_not_belong_together_are_refused(other, sentence):
    with pytest.raises(ValueError, match=f"repertoire 3 of 3 cannot be merged into the first: {sentence}"):
        merge([made([1] * 4), made([1] * 4), made([1] * 4, **other)])


def test_merge_end_to_end(runs, tmp_path, capsys):
    output = tmp_path / "merged.safetensors"
    assert ran("merge", runs["actor"], runs["plain"], "--output", output, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    one, other, merged = (dcrl.load(path) for path in (runs["actor"], runs["plain"], output))
    best = np.where(one.occupied, one.fitness, -np.inf)
    for cell, place in zip(
        np.flatnonzero(other.occupied), cell_of(one.centroids, other.descriptor[other.occupied]), strict=True
    ):
        best[place] = max(best[place], other.fitness[cell])
    np.testing.assert_array_equal(np.where(merged.occupied, merged.fitness, -np.inf), best)
    assert merged.actor_parameters is None
    assert merged.evaluations == one.evaluations + other.evaluations
    assert summary["elites"] == np.isfinite(best).sum()
    assert summary["qd_score"] == pytest.approx(best[np.isfinite(best)].sum(dtype=np.float64))
    before = output.read_bytes()
    line = ("merge", runs["actor"], runs["plain"], "--output", output)
    assert "exists already; --overwrite replaces it" in refused(capsys, *line)
    assert ran(*line, "--overwrite") == 0
    assert output.read_bytes() == before
    assert f"{output}: {summary['elites']} elites in 64 cells" in capsys.readouterr().out
    assert "at least 2 repertoires, got 1" in refused(capsys, "merge", runs["plain"], "--output", tmp_path / "x")
    assert "there is no directory" in refused(capsys, *line[:3], "--output", tmp_path / "nowhere" / "x")
    assert "is a directory" in refused(capsys, *line[:3], "--output", tmp_path)
