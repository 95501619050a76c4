"""The sentences of a report that depend on its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcrl.analysis.captions import NOTHING_FINISHED
from dcrl.analysis.collection import Collection
from dcrl.analysis.comparison import Test
from dcrl.analysis.grids import Key
from dcrl.analysis.metrics import METRICS, STORED, TESTED, ranking
from dcrl.analysis.metrics import title as metric_title
from dcrl.analysis.power import runs_needed
from dcrl.analysis.records import Record
from dcrl.analysis.statistics import SIGNIFICANT
from dcrl.analysis.tables import Table
from dcrl.figures.style import label


def title(runs: Collection) -> str:
    series = listed([label(series) for series in runs.series])
    return f"{series} on {listed(runs.tasks)}: {counted(len(runs.records), 'run')}"


def unfinished(record: Record, wanted: int) -> str:
    who = f"{record.task}: {record.series}, seed {record.seed},"
    if record.metrics["evaluations"][0] > wanted:
        return f"{who} has no generation that ends by {wanted:,} evaluations."
    return (
        f"{who} is unfinished ({record.evaluations:,} of {wanted:,} evaluations); it is left out of final values and "
        "tests, and drawn only where its series has no finished run."
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
        "All algorithms of a task are compared after the same number of evaluations: the value of a run is "
        "that of its last generation completed by then."
    )
    return (text, Table(columns=("task", "algorithm", "runs", "seeds", "compared after (evaluations)"), rows=rows))


def outcome(
    samples: Mapping[Key, Sequence[float]], families: Sequence[Sequence[Test]], common: Mapping[str, int]
) -> tuple[str, ...]:
    """Rankings by median, and which differences are significant."""
    sentences = []
    for task in dict.fromkeys(task for task, _, _ in samples):
        parts = []
        for metric in STORED:
            own = {label(s): float(np.median(v)) for (t, m, s), v in samples.items() if (t, m) == (task, metric)}
            if own:
                parts.append(f"{_capital(metric_title(metric))}: {ranking(own, metric)}.")
        sentences.append(f"{task}, medians after {common[task]:,} evaluations, best first. " + " ".join(parts))
    if not sentences:
        return (NOTHING_FINISHED,)
    return (*sentences, *(significant(tests) for tests in families if tests))


def significant(tests: Sequence[Test]) -> str:
    """How many tests of a family are significant, and in which the reference is better or worse."""
    name = label(tests[0].reference)
    sure = [test for test in tests if test.corrected_p < SIGNIFICANT]
    count = f"{len(sure)} of the {len(tests)} differences" if sure else f"None of the {len(tests)} differences"
    sentences = [
        f"{count} between {name} and another algorithm {'is' if len(sure) < 2 else 'are'} significant after correction."
    ]
    for metric in TESTED:
        for better in (True, False):
            found: dict[str, list[str]] = {}
            for test in sure:
                if test.metric == metric and (test.share_better > 0.5) is better:
                    found.setdefault(test.task, []).append(label(test.other))
            if found:
                where = "; ".join(f"{listed(others)} on {task}" for task, others in found.items())
                word = "higher" if better is METRICS[metric].higher_is_better else "lower"
                note = f" ({'better' if better else 'worse'})" if not METRICS[metric].higher_is_better else ""
                sentences.append(f"The {metric_title(metric)} of {name} is {word}{note} than that of {where}.")
    return " ".join(sentences)


def family(tests: Sequence[Test]) -> tuple[str, ...]:
    """Which tests were made, how they were corrected, and whether so few runs can show any difference."""
    name, count = label(tests[0].reference), len(tests)
    others = listed(list(dict.fromkeys(label(test.other) for test in tests)))
    tasks = list(dict.fromkeys(test.task for test in tests))
    metrics = list(dict.fromkeys(test.metric for test in tests))
    lower = [metric_title(metric) for metric in metrics if not METRICS[metric].higher_is_better]
    what = (
        f"Two-sided Mann-Whitney U tests of {name} against {others} on {listed(tasks)}, in "
        f"{listed([metric_title(metric) for metric in metrics])}: {counted(count, 'test')}, Holm-Bonferroni corrected "
        f"as one family. The effect size below each p value is the share of pairs of runs in which {name} is better, "
        "with ties counting one half"
        + (f"; for {listed(lower)}, lower is better" if lower else "")
        + ". Differences of medians are in the CSV file."
    )
    smallest = min(test.found.smallest_p for test in tests)
    if smallest * count < SIGNIFICANT:
        return (what,)
    return (
        what,
        f"With {counted(max(min(test.counts) for test in tests), 'run')} per side, the smallest possible p value is "
        f"{smallest:.2g} before correction: no difference can be significant in this family. It takes "
        f"{runs_needed(count)} runs per side.",
    )


def maps(task: str) -> str:
    return (
        f"Archives on {task}, each at the end of the run whose QD score is closest to the median of its algorithm, on "
        "a common colour scale. Cells without a colour are empty."
    )


def without_archive(runs: int, total: int, pictures: int) -> str:
    """One remark for all runs that were copied without their archives."""
    shown = f"; {counted(pictures, 'stored picture')} of a map {'is' if pictures == 1 else 'are'} shown instead"
    return (
        f"{runs} of {counted(total, 'run')} {'has' if runs == 1 else 'have'} no archive.safetensors, so there is no "
        f"map to draw from {'it' if runs == 1 else 'them'}"
        + (shown if pictures else "")
        + "; everything else is complete."
    )


def improvement(reference: str) -> str:
    return (
        f"Probability of improvement: the share of pairs of runs of the same task in which {label(reference)} is "
        "higher than the other algorithm, with ties counting one half; mean over tasks, with its 95% interval. 0.5 "
        "means no difference."
    )


def incomplete(series: str, tasks: Sequence[str]) -> str:
    return f"{series} has no finished run on {listed(tasks)}; it is left out of the statistics across tasks."


def too_few(task: str) -> str:
    return f"No algorithm has three runs on {task}; it is left out of the statistics across tasks."


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
