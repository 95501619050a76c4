"""The corrected QD score over wall time, by hand."""

from __future__ import annotations

import csv
import math

import pytest

from dcrl.analysis.collection import collect
from dcrl.analysis.corrected import corrected_after, corrected_reach, points
from dcrl.analysis.options import Options
from dcrl.analysis.report import report
from support.synthetic import write_evaluation, write_run

pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.fixture
def results(tmp_path):
    """A generation has 100 evaluations and takes 10 s. A corrected QD score is half of what is written here."""
    root = tmp_path / "results"
    for seed, score in enumerate((400.0, 500.0, 600.0)):
        path = write_run(root, "point_omni", "dcrl_me", seed, 900.0, seconds=10.0)
        write_evaluation(path, score, actor=False)
        write_evaluation(path, score / 2, actor=False, evaluations=500, folder="archive-500-reproducibility")
    for seed in range(3):
        path = write_run(root, "point_omni", "me", seed, 800.0, seconds=10.0)
        if seed < 2:
            write_evaluation(path, 480.0 + 40 * seed, actor=False)  # its last archive is reached after 90 s
    return root


def test_a_run_is_worth_what_its_re_evaluated_archives_are(results):
    own = [point for point in points(collect([results]).records) if (point.series, point.seed) == ("dcrl_me", 1)]
    assert [(point.evaluations, point.seconds, point.corrected_qd_score) for point in own] == [
        (500, 40.0, 125.0),
        (1000, 90.0, 250.0),
    ]
    assert [point.qd_score for point in own] == pytest.approx([400, 900])
    assert [corrected_after(own, second) for second in (40, 89, 90, 1000)] == [125, 125, 250, 250]
    assert math.isnan(corrected_after(own, 39))
    reached = [corrected_reach(own, threshold) for threshold in (100, 125, 126, 251)]
    assert [(one.seconds, one.reached) for one in reached] == [(40, True), (40, True), (90, True), (90, False)]


def test_what_cannot_be_read_or_placed_is_no_point(results):
    path = results / "point_omni" / "me" / "seed-2"
    write_evaluation(path, 480.0, actor=False, evaluations=1050)  # no generation ended there
    (path / "other-reproducibility").mkdir()
    for content in ("{", "[]", '{"evaluations": null}', '{"evaluations": 1000, "elites": {}, "repeats": 8}'):
        (path / "other-reproducibility" / "totals.json").write_text(content)
        assert {point.seed for point in points(collect([path]).records)} == set()


def test_the_report_counts_runs_that_never_reach_it(results, tmp_path):
    made = report([results], tmp_path / "report", Options(at_seconds=(60.0, 240.0)))
    page = made.page.read_text()
    assert "the median of the last re-evaluated archives of DCRL" in page
    assert row(page, "250", "DCRL") == ["point_omni", "250", "DCRL", "2 of 3", "90", "90 or more"]
    assert row(page, "250", "ME") == ["point_omni", "250", "ME", "1 of 2", "90", ""]
    assert "<td>125 [112, 138]</td><td>250 [225, 275]</td><td>250 [225, 275] at 90 s</td>" in page
    with open(tmp_path / "report" / "figures" / "corrected_over_time.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 8
    made = report([results], tmp_path / "other", Options(corrected_threshold=110.0))
    page = made.page.read_text()
    assert row(page, "110", "DCRL") == ["point_omni", "110", "DCRL", "3 of 3", "40", "40 to 90"]
    assert "--corrected-threshold 110" in page


def row(page: str, threshold: str, algorithm: str) -> list[str]:
    """The cells of a row about the time to a corrected QD score."""
    table = page[page.index("Time to a corrected QD score") :]
    start = table.index(f"<tr><td>point_omni</td><td>{threshold}</td><td>{algorithm}</td>")
    line = table[start : table.index("</tr>", start)]
    return [cell.removesuffix("</td>") for cell in line.removeprefix("<tr>").split("<td>")[1:]]
