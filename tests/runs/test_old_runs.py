"""A run directory of the first file format, trained at the commit in its manifest, resumes with the present code."""

from __future__ import annotations

import shutil

import numpy as np

import dcrl
from dcrl.cli.main import command
from support.making import FORMAT_1
from support.small_runs import rows


def test_a_run_of_the_first_format_resumes(tmp_path):
    run = shutil.copytree(FORMAT_1, tmp_path / "run")
    assert command(["resume", str(run), "--evaluations", "48", "--quiet"]) == 0
    before, after = rows(FORMAT_1), rows(run)
    kept = [{name: row[name] for name in before[0]} for row in after]  # columns were added since
    assert kept[: len(before)] == before
    assert [row["similarity_pg"] != "" for row in after] == [False] * len(before) + [True, True]
    assert [row["evaluations"] for row in after[len(before) :]] == ["40", "48"]
    old, new = dcrl.load(FORMAT_1), dcrl.load(run)
    assert new.evaluations == 48
    np.testing.assert_array_equal(new.centroids, old.centroids)
    assert (new.fitness[old.occupied] >= old.fitness[old.occupied]).all()
    assert (new.actor_parameters != old.actor_parameters).any()
