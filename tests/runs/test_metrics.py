"""`metrics.csv` as arrays: by column, NaN where there is no number, refused beyond the limits."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dcrl.runs import metrics
from dcrl.runs.metrics import read_metrics


def test_metrics_are_read_by_column(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("generation,qd_score,max_fitness\n0,1.5,nan\n1,2.25,7\n")
    found = read_metrics(path)
    assert list(found) == ["generation", "qd_score", "max_fitness"]
    np.testing.assert_array_equal(found["qd_score"], [1.5, 2.25])
    np.testing.assert_array_equal(found["max_fitness"], [np.nan, 7])


@pytest.mark.parametrize("row", ["0,much", "0", "0,"])
def test_what_is_no_number_in_the_metrics_is_nan(row, tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text(f"generation,qd_score\n{row}\n1,3\n")
    np.testing.assert_array_equal(read_metrics(path)["qd_score"], [np.nan, 3])


@pytest.mark.parametrize("content", [b"generation,qd_score\n0,\xff\xfe\n", None])
def test_metrics_that_cannot_be_read_are_named(content, tmp_path):
    path = tmp_path / "metrics.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*metrics\.csv"):
        read_metrics(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("generation,qd_score\n0," + "1" * 2**20 + "\n", "a line of"),
        (",".join(map(str, range(9000))) + "\n" + "0\n" * 2000, "more than 10,000,000 numbers"),
        ("a,a\n0,1\n", "the same name"),
    ],
)
def test_odd_metrics_are_refused_without_being_held_in_memory(content, said, tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=said):
            read_metrics(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * metrics.NUMBER_LIMIT
    finally:
        tracemalloc.stop()


def test_metrics_of_127_megabytes_are_refused_unread(tmp_path):
    path = tmp_path / "metrics.csv"
    with open(path, "wb") as file:
        file.truncate(127 * 10**6)
    with pytest.raises(ValueError, match=r"it has 127,000,000 bytes, expected at most 67,108,864"):
        read_metrics(path)
