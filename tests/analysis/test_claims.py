"""The paper's claims, tested on runs with known numbers."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from dcrl.algorithms.catalogue import CATALOGUE
from dcrl.analysis.claims import CLAIMS, NUMBERED, TASKS, Claim, findings
from dcrl.analysis.comparison import Value
from dcrl.analysis.report import report
from dcrl.tasks.catalogue import BUILT_IN
from support.synthetic import write_run

HIGHER = Claim(number=1, metric="qd_score", better="dcrl_me", others=("me", "pga_me"), tasks=("walker2d_uni",))
LOWER = Claim(number=6, metric="expected_distance", better="dcrl_me", others=("me",), tasks=("walker2d_uni",))


def values(metric: str, **series: list[float]) -> list[Value]:
    return [
        Value(task="walker2d_uni", series=name, seed=seed, metric=metric, evaluations=9, value=value)
        for name, own in series.items()
        for seed, value in enumerate(own)
    ]


def test_a_separated_claim_holds_and_is_corrected_within_its_number():
    found = findings(
        values("qd_score", dcrl_me=[7, 8, 9, 10, 11], me=[1, 2, 3, 4, 5], pga_me=[6, 8.5, 9, 12, 13]), [HIGHER]
    )
    against_me, against_pga = found
    assert (against_me.verdict, against_pga.verdict) == ("holds", "cannot be told")
    p = stats.mannwhitneyu([7, 8, 9, 10, 11], [1, 2, 3, 4, 5]).pvalue
    assert against_me.p == pytest.approx(p)
    assert against_me.corrected_p == pytest.approx(2 * p)
    assert against_me.share_better.value == 1
    # of 25 pairs the first is greater in 1 + 1 + (2 + one tie) + 3 + 3
    assert against_pga.share_better.value == pytest.approx((1 + 1 + 2.5 + 3 + 3) / 25)
    assert against_me.medians == (9, 3)
    assert against_me.share_better.low <= 1 <= against_me.share_better.high


def test_the_opposite_is_called_so():
    (found,) = findings(values("qd_score", dcrl_me=[1, 2, 3, 4], me=[5, 6, 7, 8]), [HIGHER])
    assert found.verdict == "opposite"
    assert found.share_better.value == 0


def test_a_lower_distance_is_better():
    (found,) = findings(values("expected_distance", dcrl_me=[0.1, 0.2, 0.3, 0.4], me=[0.5, 0.6, 0.7, 0.8]), [LOWER])
    assert found.verdict == "holds"
    assert found.share_better.value == 1


def test_single_runs_decide_nothing_and_missing_ones_are_left_out():
    (found,) = findings(values("qd_score", dcrl_me=[9], me=[1]), [HIGHER])
    assert found.verdict == "cannot be told"
    assert findings(values("qd_score", dcrl_me=[9])) == ()


def test_runs_that_are_too_few_do_not_weaken_the_others():
    """Three runs against three have p >= 0.1, whatever they are; four against four can be significant."""
    few = [replace(value, task="ant_omni") for value in values("qd_score", dcrl_me=[7, 8, 9], me=[1, 2, 3])]
    enough = values("qd_score", dcrl_me=[7, 8, 9, 10], me=[1, 2, 3, 4])
    alone = findings(enough, [HIGHER])
    together = findings([*few, *enough], [replace(HIGHER, tasks=("ant_omni", "walker2d_uni"))])
    assert together[1:] == alone
    assert alone[0].corrected_p == pytest.approx(2 / 70)
    assert (together[0].p, together[0].corrected_p) == pytest.approx((0.1, 0.1))
    assert [finding.verdict for finding in together] == ["cannot be told", "holds"]


def test_claims_name_known_tasks_metrics_and_algorithms():
    assert set(TASKS) <= set(BUILT_IN)
    assert {claim.number for claim in CLAIMS} == set(NUMBERED)
    for claim in CLAIMS:
        assert claim.tasks
        assert set(claim.tasks) <= set(TASKS)
        assert {name.removesuffix(" actor") for name in (claim.better, *claim.others)} <= set(CATALOGUE)


def test_a_report_tests_the_claims_and_writes_them(tmp_path: Path, unrendered):
    for seed in range(5):
        for algorithm, final in (("dcrl_me", 900), ("ablation_ai", 600), ("pga_me", 300)):
            write_run(tmp_path / "runs", "walker2d_uni", algorithm, seed, final + seed)
    made = report([tmp_path / "runs"], tmp_path / "report")
    with open(tmp_path / "report" / "figures" / "claims.csv") as file:
        rows = {(row["claim"], row["metric"], row["better"], row["other"]): row for row in csv.DictReader(file)}
    assert rows["1", "qd_score", "dcrl_me", "pga_me"]["verdict"] == "holds"
    # one third of 900 + seed for each of dcrl_me's three operators, a half for each of ablation_ai's two
    both = rows["7", "improvement, PG + AI", "dcrl_me", "ablation_ai"]
    assert float(both["better_median"]) == pytest.approx(902 * 2 / 3)
    assert float(both["other_median"]) == pytest.approx(602 / 2)
    assert re.search("claims", made.page.read_text())
    assert "Ablation AI better than PGA" in made.page.read_text()
