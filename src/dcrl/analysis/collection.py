"""Runs found on disk: usable ones as records, and remarks on what is left out or unequal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dcrl.algorithms.registry import ALGORITHMS
from dcrl.analysis.records import Record, flat, read
from dcrl.figures.series import variant_series
from dcrl.figures.style import rank
from dcrl.tasks.catalogue import BUILT_IN

FREE = ("seed", "evaluations", "task", "algorithm")  # what runs of one series may differ in


@dataclass(frozen=True, kw_only=True)
class Collection:
    """Runs in the order of task, series and seed, and remarks: one sentence per thing that affects a comparison."""

    records: tuple[Record, ...]
    remarks: tuple[str, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(record.task for record in self.records))

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(sorted(dict.fromkeys(record.series for record in self.records), key=rank))

    def of(self, task: str, series: str) -> tuple[Record, ...]:
        return tuple(record for record in self.records if (record.task, record.series) == (task, series))


def collect(paths: Iterable[str | Path]) -> Collection:
    """All runs at and below the given directories; a ValueError if there is none."""
    found: list[Record] = []
    remarks: list[str] = []
    asked = [Path(path) for path in paths]
    for path in directories(asked):
        try:
            record, remark = read(path)
        except ValueError as error:
            remarks.append(f"{path} is left out: {error}.")
            continue
        found.append(record)
        remarks.extend(remark)
    if not found:
        places = ", ".join(map(str, asked)) or "no directory"
        shown = "".join(f"; {remark}" for remark in remarks[:3])
        raise ValueError(f"no usable run at or below {places}; expected directories of `dcrl train`{shown}")
    named = _variants(found)
    kept = _once(named, remarks)
    kept.sort(key=lambda record: (_task_rank(record.task), rank(record.series), record.seed))
    remarks.extend(unequal(kept))
    return Collection(records=tuple(kept), remarks=tuple(remarks))


def directories(paths: Iterable[Path]) -> list[Path]:
    """The run directories among and below `paths`, each once."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise ValueError(f"there is no directory {path}; expected runs of `dcrl train`")
        for config in sorted(path.rglob("config.json")):
            found.setdefault(config.parent.resolve(), config.parent)
    return list(found.values())


def _task_rank(task: str) -> tuple[int, str]:
    known = list(BUILT_IN)
    return (known.index(task) if task in known else len(known), task)


def _variants(records: list[Record]) -> list[Record]:
    """Name as a separate series the runs whose hyperparameters differ from most of their algorithm and task.

    The name lists what differs. Of equally frequent settings, those nearest to the algorithm's defaults are usual.
    """
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.task, record.algorithm].append(record)
    named = []
    for (_, algorithm), group in groups.items():
        shared = set.intersection(*(set(record.settings) for record in group))
        fields = sorted(name for name in shared if name.partition(".")[0] not in FREE)
        differing = [name for name in fields if len({record.settings[name] for record in group}) > 1]
        most = _usual([tuple(record.settings[name] for name in differing) for record in group], differing, algorithm)
        for record in group:
            own = {name: record.settings[name] for name in differing}
            odd = [name for name, value in zip(differing, most, strict=True) if own[name] != value]
            what = {name.rpartition(".")[2]: own[name] for name in odd}
            named.append(replace(record, series=variant_series(record.algorithm, what)))
    return named


def _usual(settings: list[tuple[str, ...]], names: list[str], algorithm: str) -> tuple[str, ...]:
    """The most frequent values of the named fields; of equally frequent ones, those with most of the defaults."""
    known = ALGORITHMS.get(algorithm)
    default = flat({"hyperparameters": asdict(known.default)}) if known else {}

    def weight(values: tuple[str, ...]) -> tuple[int, int]:
        return settings.count(values), sum(default.get(n) == value for n, value in zip(names, values, strict=True))

    return max(sorted(set(settings)), key=weight)


def _once(records: list[Record], remarks: list[str]) -> list[Record]:
    """One run per seed of a series: the one with most evaluations."""
    best: dict[tuple[str, str, int], Record] = {}
    for record in records:
        key = record.task, record.series, record.seed
        other = best.get(key)
        if other is None:
            best[key] = record
            continue
        kept, left = (record, other) if record.evaluations > other.evaluations else (other, record)
        best[key] = kept
        remarks.append(f"{left.path} is left out: it has the seed and settings of {kept.path}.")
    return list(best.values())


def unequal(records: list[Record]) -> list[str]:
    """Remarks on differences between runs of one task that make them less comparable."""
    remarks = []
    for task in dict.fromkeys(record.task for record in records):
        group = [record for record in records if record.task == task]
        for field, why in (
            ("hyperparameters.archive.cells", "QD score and coverage are of archives of different sizes"),
            ("simulator", "their physics differ"),
            ("hidden", "their policies differ in size"),
        ):
            values = _by_value((record.settings[field], record) for record in group if field in record.settings)
            if len(values) > 1:
                remarks.append(
                    f"{task}: {field.rpartition('.')[2]} is not the same in all runs ({_said(values)}): {why}."
                )
        budgets = _by_value((f"{record.budget:,}", record) for record in group)
        if len(budgets) > 1:
            remarks.append(f"{task}: the budgets differ ({_said(budgets)}).")
        commits = _by_value((str(record.manifest.get("commit") or "unknown")[:7], record) for record in group)
        if len(commits) > 1:
            remarks.append(f"{task}: the runs were made by different commits of this package ({_said(commits)}).")
        processors = _by_value((str(record.manifest.get("processor") or "unknown"), record) for record in group)
        if len(processors) > 1:
            remarks.append(
                f"{task}: the runs were made on different processors ({_said(processors)}); equal seeds need not give "
                "equal results, and wall times are not comparable."
            )
        seeds = {record.seed for record in group}
        for series in dict.fromkeys(record.series for record in group):
            missing = sorted(seeds - {record.seed for record in group if record.series == series})
            if missing:
                remarks.append(f"{task}: {series} has no run of seed {', '.join(map(str, missing))}.")
    return remarks


def _by_value(values: Iterable[tuple[str, Record]]) -> dict[str, list[str]]:
    """The series that have each value."""
    found: dict[str, list[str]] = defaultdict(list)
    for value, record in values:
        if record.series not in found[value]:
            found[value].append(record.series)
    return dict(found)


def _said(values: dict[str, list[str]]) -> str:
    return "; ".join(f"{value}: {', '.join(series)}" for value, series in values.items())
