"""The paper's claims about its algorithms, each tested on the runs that a report compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dcrl.analysis.across import Estimate, probability_of_improvement
from dcrl.analysis.comparison import Value, samples_of
from dcrl.analysis.metrics import METRICS
from dcrl.analysis.operators import GROUPS, contributions, group
from dcrl.analysis.records import Record
from dcrl.analysis.statistics import SIGNIFICANT, compare, holm
from dcrl.figures.series import actor_series

Verdict = Literal["holds", "opposite", "cannot be told"]
OMNIDIRECTIONAL = ("ant_omni", "anttrap_omni", "humanoid_omni")
UNIDIRECTIONAL = ("walker2d_uni", "halfcheetah_uni", "ant_uni", "humanoid_uni")
TASKS = (*OMNIDIRECTIONAL, *UNIDIRECTIONAL)  # of the paper
PGA_IS_FITTER = ("halfcheetah_uni", "ant_uni")
BASELINES = ("pga_me", "qd_pg", "me", "me_es")
EVERYBODY = ("dcg_me", *BASELINES)
ACTOR = actor_series("dcrl_me")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A comparison that the paper reports: on its tasks, `better` is better than each of `others` in a metric."""

    number: int  # claims with one number are one family of tests
    metric: str
    better: str
    others: tuple[str, ...]
    tasks: tuple[str, ...] = TASKS


def _but(*left_out: str) -> tuple[str, ...]:
    return tuple(task for task in TASKS if task not in left_out)


def _without(*left_out: str) -> tuple[str, ...]:
    return tuple(name for name in EVERYBODY if name not in left_out)


NUMBERED = {
    1: "DCRL has a higher QD score and coverage than every baseline and than DCG (on Ant Uni, DCG is equal).",
    2: "DCG has a higher QD score than the baselines, except on Ant Uni and Humanoid Uni.",
    3: "DCRL and DCG cover more than QD-PG, and have a higher QD score than PGA except on Ant Uni.",
    4: "DCRL has an equal or higher max fitness than all others, except than PGA on HalfCheetah Uni and Ant Uni.",
    5: "Actor injection (except on Ant Uni) and the conditioned actor raise the QD score; DCG is above Ablation AI.",
    6: "Re-evaluated, DCRL has the highest expected QD score, the lowest expected distance except for ME-ES (and, on "
    "Humanoid Omni, DCG), and a higher expected max fitness than DCG. Its actor has a lower expected QD score on Ant "
    "Uni, and a higher expected distance on unidirectional tasks.",
    7: "Operators: Ablation AI improves more than PGA, GA improves more in DCRL and Ablation AI than in PGA, and "
    "PG + AI in DCRL more than PG in Ablation AI.",
}
CLAIMS = (
    Claim(number=1, metric="qd_score", better="dcrl_me", others=BASELINES),
    Claim(number=1, metric="coverage", better="dcrl_me", others=BASELINES),
    Claim(number=1, metric="qd_score", better="dcrl_me", others=("dcg_me",), tasks=_but("ant_uni")),
    Claim(number=1, metric="coverage", better="dcrl_me", others=("dcg_me",), tasks=_but("ant_uni")),
    Claim(number=2, metric="qd_score", better="dcg_me", others=BASELINES, tasks=_but("ant_uni", "humanoid_uni")),
    Claim(number=3, metric="coverage", better="dcrl_me", others=("qd_pg",)),
    Claim(number=3, metric="coverage", better="dcg_me", others=("qd_pg",)),
    Claim(number=3, metric="qd_score", better="dcrl_me", others=("pga_me",), tasks=_but("ant_uni")),
    Claim(number=3, metric="qd_score", better="dcg_me", others=("pga_me",), tasks=_but("ant_uni")),
    Claim(number=4, metric="max_fitness", better="dcrl_me", others=EVERYBODY, tasks=_but(*PGA_IS_FITTER)),
    Claim(number=4, metric="max_fitness", better="dcrl_me", others=_without("pga_me"), tasks=PGA_IS_FITTER),
    Claim(number=4, metric="max_fitness", better="pga_me", others=("dcrl_me",), tasks=PGA_IS_FITTER),
    Claim(number=5, metric="qd_score", better="dcrl_me", others=("ablation_ai",), tasks=_but("ant_uni")),
    Claim(number=5, metric="qd_score", better="ablation_ai", others=("ablation_actor",)),
    Claim(number=5, metric="qd_score", better="dcg_me", others=("ablation_ai",)),
    Claim(number=6, metric="expected_qd_score", better="dcrl_me", others=EVERYBODY),
    Claim(number=6, metric="expected_distance", better="dcrl_me", others=_without("dcg_me", "me_es")),
    Claim(number=6, metric="expected_distance", better="dcrl_me", others=("dcg_me",), tasks=_but("humanoid_omni")),
    Claim(number=6, metric="expected_max_fitness", better="dcrl_me", others=("dcg_me",)),
    Claim(number=6, metric="expected_qd_score", better="dcrl_me", others=(ACTOR,), tasks=("ant_uni",)),
    Claim(number=6, metric="expected_distance", better="dcrl_me", others=(ACTOR,), tasks=UNIDIRECTIONAL),
    Claim(number=7, metric="improvement, total", better="ablation_ai", others=("pga_me",)),
    Claim(number=7, metric="improvement, GA", better="dcrl_me", others=("pga_me",)),
    Claim(number=7, metric="improvement, GA", better="ablation_ai", others=("pga_me",)),
    Claim(number=7, metric="improvement, PG + AI", better="dcrl_me", others=("ablation_ai",)),
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison of a claim on one task."""

    number: int
    task: str
    metric: str
    better: str  # according to the paper
    other: str
    counts: tuple[int, int]
    medians: tuple[float, float]
    share_better: Estimate  # of pairs of runs in which `better` is better; 0.5 is no difference
    p: float
    smallest_p: float  # what the test can reach with so many runs
    corrected_p: float  # for all comparisons of the claim that could be significant

    @property
    def verdict(self) -> Verdict:
        """`holds` and `opposite` are differences that remain significant after correction."""
        if self.corrected_p >= SIGNIFICANT:
            return "cannot be told"
        return "holds" if self.share_better.value > 0.5 else "opposite"


def findings(found: Sequence[Value], claims: Sequence[Claim] = CLAIMS) -> tuple[Finding, ...]:
    """Every comparison that the runs allow, corrected by Holm's method within each numbered claim.

    Comparisons with so few runs that they cannot be significant are no part of the family: they cannot be rejected by
    mistake, so correcting the others for them would only make these weaker (Tarone 1990).
    """
    samples = samples_of(found)
    tests: dict[int, list[Finding]] = {}
    for claim in claims:
        for task in claim.tasks:
            for other in claim.others:
                own, against = (samples.get((task, claim.metric, name)) for name in (claim.better, other))
                if own and against:
                    tests.setdefault(claim.number, []).append(_test(claim, task, other, own, against))
    return tuple(finding for number in sorted(tests) for finding in _corrected(tests[number]))


def _test(claim: Claim, task: str, other: str, own: Sequence[float], against: Sequence[float]) -> Finding:
    higher = METRICS[claim.metric].higher_is_better if claim.metric in METRICS else True
    sides = (own, against) if higher else (against, own)
    compared = compare(own, against)
    return Finding(
        number=claim.number,
        task=task,
        metric=claim.metric,
        better=claim.better,
        other=other,
        counts=(len(own), len(against)),
        medians=(float(np.median(own)), float(np.median(against))),
        share_better=probability_of_improvement({task: sides[0]}, {task: sides[1]}),
        p=compared.p,
        smallest_p=compared.smallest_p,
        corrected_p=compared.p,
    )


def _corrected(tests: Sequence[Finding]) -> list[Finding]:
    family = [test for test in tests if test.smallest_p < SIGNIFICANT]
    corrected = iter(holm([test.p for test in family]))
    return [replace(test, corrected_p=float(next(corrected))) if test in family else test for test in tests]


def improvements(records: Sequence[Record], common: Mapping[str, int]) -> list[Value]:
    """The cumulative improvement of each run's groups of operators, as metrics."""
    found = []
    every = contributions(records, common)
    for record in records:
        mine = [c for c in every if (c.task, c.series, c.seed) == (record.task, record.series, record.seed)]
        for name in GROUPS:
            own = group(record, name)
            if own and mine:
                found.append(
                    Value(
                        task=record.task,
                        series=record.series,
                        seed=record.seed,
                        metric=f"improvement, {name}",
                        evaluations=common[record.task],
                        value=sum(c.improvement for c in mine if c.operator in own),
                    )
                )
    return found
