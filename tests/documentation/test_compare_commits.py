"""benchmarks/compare_commits.py: what counts as a difference between two runs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import compare_commits

RUN = ("point_omni", "me", 2_560)


def made(root: Path, fitness: list[float], metrics: str, **more: np.ndarray) -> Path:
    path = root / "point_omni" / "me" / "seed-0"
    path.mkdir(parents=True)
    save_file({"fitness": np.float32(fitness), **more}, path / "archive.safetensors")
    (path / "metrics.csv").write_text(metrics)
    return root


@pytest.mark.parametrize(
    ("after", "differences", "printed"),
    [
        (([1], "qd_score,wall_seconds\n1,9\n"), [], "identical"),
        (([1], "qd_score,wall_seconds,more\n1,9,5\n"), [], "identical (added: more)"),
        (([2], "qd_score,wall_seconds\n1,9\n"), ["archive.safetensors: fitness"], "archive.safetensors: fitness"),
        (([1], "qd_score,wall_seconds\n2,9\n"), ["metrics.csv: qd_score"], "metrics.csv: qd_score"),
        (([1], "wall_seconds,coverage\n9,1\n"), ["metrics.csv: qd_score"], "(added: coverage)"),
        (([1], "qd_score,wall_seconds\n1,9\n2,10\n"), ["metrics.csv: the number of generations"], "generations"),
    ],
)
def test_a_changed_or_removed_value_is_a_difference_and_an_added_one_is_not(
    after, differences, printed, tmp_path, capsys
):
    one = made(tmp_path / "one", [1], "qd_score,wall_seconds\n1,8\n")
    assert list(compare_commits.compare(RUN, one, made(tmp_path / "two", *after))) == differences
    assert printed in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(("no-such-commit",), "there is no commit 'no-such-commit'"), (("HEAD", "--only", "ant/me"), "'ant/me'")],
)
def test_what_does_not_exist_is_refused(arguments, sentence, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compare_commits.py", *arguments])
    with pytest.raises(SystemExit) as exit:
        compare_commits.main()
    assert exit.value.code == 2
    assert sentence in capsys.readouterr().err
