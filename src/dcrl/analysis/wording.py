"""What a report says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Test
from dcrl.analysis.grids import TITLES, Key
from dcrl.analysis.records import METRICS, Record
from dcrl.analysis.statistics import SIGNIFICANT, smallest_p
from dcrl.analysis.tables import Table, number
from dcrl.figures.style import label

CURVES = (
    "QD score (sum of the fitness of all elites), coverage (share of cells with an elite) and max fitness over "
    "evaluations. Lines are medians over seeds, bands reach from quartile to quartile."
)
CURVES_TIME = (
    "The same over wall time, as far as the fastest run of each series went. Times compare only runs made on the same, "
    "otherwise idle machine."
)
ABLATION = "DCRL, DCG and the ablations: without actor injection, and without a descriptor-conditioned actor as well."
FINAL = (
    "Final values: a dot a run, boxes from quartile to quartile with the median, whiskers to the last run within 1.5 "
    "box lengths."
)
FINAL_TABLE = (
    "IQM is the interquartile mean, the mean of the middle half of the runs. Intervals are percentile-bootstrap "
    "intervals of 95 % over seeds; they are given from three runs on."
)
NOTHING_FINISHED = "No run has reached its budget yet, so there are no final values to compare."
NO_TESTS = "There is nothing to test: a test needs finished runs of at least two algorithms on the same task."
TESTS = (
    "P values after Holm-Bonferroni correction, bold where below 0.05; below each the share of pairs of runs in which "
    "the reference is greater, which is also the colour."
)
REPEAT = "On another machine, or with other versions, the numbers will differ; each run's manifest.json tells its own."
NOT_EVALUATED = (
    "No run has been evaluated again. An archive keeps the luckiest evaluations, so its numbers promise too much; "
    "`dcrl evaluate RUN` measures how much, and the next report shows it here."
)
REPRODUCIBILITY = (
    "What elites reach on average when they are evaluated again: the sum and the greatest of their mean fitness, and "
    "the mean distance between what they do and the centre of their cell, in units of the descriptor. Actors are told "
    "the centre of each occupied cell. Boxes and dots as for the final values."
)
NO_ARCHIVES = "There are no archives to draw."
IMPROVEMENT = (
    "Fitness gained by each kind of operator, in total: what its offspring added to the cells that they entered (an "
    "empty cell counts from 0). With the initial QD score the total is the QD score. Medians and quartiles over seeds."
)
ADDED = "Offspring that entered the archive, in total, by each kind of operator. Medians and quartiles over seeds."
OPERATORS = (
    "GA is the genetic operator, of which MAP-Elites makes twice as many offspring a generation as DCRL, DCG and PGA "
    "do; PG + AI are policy gradients, injected actors and greedy actors together; evolution strategies appear "
    "in the total only. figures/operators.csv has every operator of every run by itself, "
    "figures/operators_over_evaluations.csv their medians and quartiles over seeds."
)


def title(runs: Collection) -> str:
    count = len(runs.records)
    return f"{_listed([label(series) for series in runs.series])} on {_listed(list(runs.tasks))}: {count} run" + "s" * (
        count > 1
    )


def unfinished(record: Record, wanted: int) -> str:
    if record.metrics["evaluations"][0] > wanted:
        who = f"{record.task}: {record.series}, seed {record.seed},"
        return f"{who} has no generation that ends by {wanted:,} evaluations."
    return (
        f"{record.task}: {record.series}, seed {record.seed}, is unfinished ({record.evaluations:,} of {wanted:,} "
        "evaluations); it is left out of final values and tests, and drawn only where its series has no finished run."
    )


def untested(task: str, reference: str) -> str:
    return f"{task}: there is no finished run of {reference} to test the others against."


def compared(runs: Collection, common: Mapping[str, int]) -> tuple[str | Table, ...]:
    rows = tuple(
        (task, label(series), len(own), ", ".join(str(record.seed) for record in own), f"{common[task]:,}")
        for task in runs.tasks
        for series in runs.series
        if (own := runs.of(task, series))
    )
    text = (
        "All algorithms of a task are compared after the same number of evaluations: each run counts with its last "
        "generation that ended by then."
    )
    return (text, Table(columns=("task", "algorithm", "runs", "seeds", "compared after (evaluations)"), rows=rows))


def outcome(
    samples: Mapping[Key, Sequence[float]], tests: Sequence[Test], common: Mapping[str, int]
) -> tuple[str, ...]:
    """Rankings by median, and what the tests allow to say about them."""
    sentences = []
    for task in dict.fromkeys(task for task, _, _ in samples):
        parts = []
        for metric in METRICS:
            own = {series: v for (t, m, series), v in samples.items() if (t, m) == (task, metric)}
            medians = {series: float(np.median(v)) for series, v in own.items()}
            ranking = sorted(medians, key=lambda series: -medians[series])
            said = ", ".join(f"{label(series)} {number(medians[series], metric)}" for series in ranking)
            parts.append(f"{TITLES[metric][0].upper()}{TITLES[metric][1:]}: {said}.")
        sentences.append(f"{task}, medians after {common[task]:,} evaluations, from the highest. " + " ".join(parts))
    if not sentences:
        return (NOTHING_FINISHED,)
    return (*sentences, *significant(tests))


def significant(tests: Sequence[Test]) -> tuple[str, ...]:
    if not tests:
        return ()
    name = label(tests[0].reference)
    sure = [test for test in tests if test.corrected_p < SIGNIFICANT]
    sentences = [
        f"{len(sure) or 'None'} of the {len(tests)} differences between {name} and another algorithm "
        f"{'is' if len(sure) < 2 else 'are'} significant after correction."
    ]
    for metric in METRICS:
        for higher, word in ((True, "higher"), (False, "lower")):
            found: dict[str, list[str]] = {}
            for test in sure:
                if test.metric == metric and (test.found.superiority > 0.5) is higher:
                    found.setdefault(test.task, []).append(label(test.other))
            if found:
                where = "; ".join(f"{_listed(others)} on {task}" for task, others in found.items())
                sentences.append(f"The {TITLES[metric]} of {name} is {word} than that of {where}.")
    return (" ".join(sentences),)


def family(tests: Sequence[Test]) -> tuple[str, ...]:
    """What was tested, how, and what so few runs can show at all."""
    name, count = label(tests[0].reference), len(tests)
    others = _listed(list(dict.fromkeys(label(test.other) for test in tests)))
    tasks = list(dict.fromkeys(test.task for test in tests))
    metrics = _listed(list(dict.fromkeys(" ".join(TITLES[test.metric].split()) for test in tests)))
    what = (
        f"Two-sided Mann-Whitney U tests of {name} against {others} on {_listed(tasks)}, in {metrics}: {count} "
        "tests, corrected by Holm and Bonferroni as one family. The effect size beside each p is the share of "
        f"pairs of runs in which {name} is greater, a tie counting a half; differences of medians are in "
        "the CSV file."
    )
    smallest = min(test.found.smallest_p for test in tests)
    if smallest * count < SIGNIFICANT:
        return (what,)
    runs = max(min(test.counts) for test in tests)
    return (
        what,
        f"With {runs} run{'s' * (runs > 1)} a side the smallest p such a test can give is {smallest:.2g}, before "
        "correction: no difference could be significant in this family, however large. It takes "
        f"{needed(count)} runs a side.",
    )


def needed(tests: int) -> int:
    """Runs a side from which on a full separation stays significant after correction for so many tests."""
    return next(runs for runs in range(2, 1000) if smallest_p(runs, runs) * tests < SIGNIFICANT)


def maps(task: str) -> str:
    return (
        f"Archives on {task}, each at the end of the run whose QD score is closest to its algorithm's median, on one "
        "colour scale. White cells are empty."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
