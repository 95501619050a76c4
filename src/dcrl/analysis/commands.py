"""The commands that made the runs of a report, re-evaluated them, and made the report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dcrl.analysis.collection import Collection
from dcrl.analysis.options import Options
from dcrl.analysis.re_evaluation import FOLDER
from dcrl.analysis.records import Record
from dcrl.evaluation.files import TOTALS
from dcrl.files import read_json


def commands(runs: Collection, places: Sequence[str | Path], folder: Path, options: Options) -> tuple[str, ...]:
    flags = ["--output", str(folder)]
    flags += ["--evaluations", str(options.evaluations)] if options.evaluations is not None else []
    flags += ["--reference", *options.references] if options.references else []
    flags += ["--threshold", f"{options.threshold:g}"] if options.threshold is not None else []
    if options.corrected_threshold is not None:
        flags += ["--corrected-threshold", f"{options.corrected_threshold:g}"]
    if options.at_seconds != Options().at_seconds:
        flags += ["--at-seconds", *(f"{second:g}" for second in options.at_seconds)]
    return (
        *(train_command(record) for record in runs.records),
        *(evaluate_command(record) for record in runs.records if (record.path / FOLDER / TOTALS).is_file()),
        shlex.join(["dcrl", "report", *map(str, places), *flags]),
    )


def train_command(record: Record) -> str:
    """The command that makes such a run: that of its manifest, with its present budget."""
    budget = ["--evaluations", str(record.budget)]
    given = record.manifest.get("command")
    if (
        isinstance(given, list)
        and len(given) > 1
        and given[1] == "train"
        and all(isinstance(word, str) for word in given)
    ):
        words = [word for word in given[1:] if word != "--overwrite"]
        if "--evaluations" in words:
            del words[words.index("--evaluations") : words.index("--evaluations") + 2]
        return shlex.join(["dcrl", *words, *budget])
    task, algorithm = (json.loads(record.settings[name]) for name in ("task", "algorithm"))
    about = ("--algorithm", algorithm, "--seed", str(record.seed), *budget)
    return shlex.join(["dcrl", "train", task, *about]) + f"  # and the settings in {record.path / 'config.json'}"


def evaluate_command(record: Record) -> str:
    """The command that re-evaluates a run as often as it was."""
    words = ["dcrl", "evaluate", str(record.path)]
    with suppress(ValueError, KeyError, TypeError, OverflowError):  # of a damaged file, which the remarks name
        words += ["--repeats", str(int(read_json(record.path / FOLDER / TOTALS)["repeats"]))]
    return shlex.join(words)
