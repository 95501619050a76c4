"""One run as its directory tells it, read without the code that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.files import read_json
from dcrl.runs.lock import is_locked
from dcrl.runs.metrics import read_metrics
from dcrl.types import Floats

METRICS = ("qd_score", "coverage", "max_fitness")
REQUIRED = ("generation", "evaluations", "wall_seconds", *METRICS)


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """A run as its directory tells it. `series` names what it is one seed of: its algorithm, or a variant of it."""

    path: Path
    task: str
    algorithm: str
    series: str
    seed: int
    budget: int  # evaluations asked for
    settings: dict[str, str]  # the configuration, flat: field to value
    manifest: dict[str, Any]
    metrics: dict[str, Floats]  # columns of metrics.csv, a row a generation
    in_progress: bool

    @property
    def evaluations(self) -> int:
        """How far it got."""
        return int(self.metrics["evaluations"][-1])

    def reached(self, evaluations: int) -> bool:
        """Whether its next generation would go beyond a number of evaluations."""
        counts = self.metrics["evaluations"]
        step = counts[-1] - counts[-2] if len(counts) > 1 else 0
        return bool(counts[-1] + step > evaluations or counts[-1] >= evaluations)

    @property
    def operators(self) -> tuple[str, ...]:
        return tuple(name.removeprefix("improvement_") for name in self.metrics if name.startswith("improvement_"))


def read(path: Path) -> tuple[Record, list[str]]:
    """The record of one run directory, and remarks on it; refuses one that cannot be used."""
    config = read_json(path / "config.json")
    if not isinstance(config, dict):
        raise ValueError("its config.json is no JSON object")
    kinds = {"task": str, "algorithm": str, "seed": int, "evaluations": int}
    wrong = [name for name, kind in kinds.items() if not isinstance(config.get(name), kind)]
    if wrong:
        raise ValueError(f"its config.json lacks the field {wrong[0]!r}, or it is of the wrong kind")
    metrics, remarks = _sound(path, read_metrics(path / "metrics.csv"))
    try:
        manifest = read_json(path / "manifest.json")
    except ValueError:
        manifest = {}
    record = Record(
        path=path,
        task=config["task"].rpartition(":")[2],
        algorithm=config["algorithm"],
        series=config["algorithm"],
        seed=config["seed"],
        budget=config["evaluations"],
        settings=flat(config),
        manifest=manifest if isinstance(manifest, dict) else {},
        metrics=metrics,
        in_progress=is_locked(path),
    )
    if record.in_progress:
        remarks.append(
            f"{path} is still running; it is used as far as it has got ({record.evaluations:,} evaluations)."
        )
    return record, remarks


def _sound(path: Path, metrics: dict[str, Floats]) -> tuple[dict[str, Floats], list[str]]:
    """The rows of the metrics before the first damaged one."""
    missing = [name for name in REQUIRED if name not in metrics]
    if missing:
        raise ValueError(f"its metrics.csv has no rows, or no column {missing[0]!r}")
    counts = metrics["evaluations"]
    needed = [name for name in metrics if name in REQUIRED or name.startswith(("improvement_", "added_"))]
    needed.remove("max_fitness")  # there is none while an archive is empty
    sound = np.isfinite(np.stack([metrics[name] for name in needed])).all(axis=0)
    sound &= np.concatenate([[True], counts[1:] > counts[:-1]])
    if sound.all():
        return metrics, []
    first = int(np.argmin(sound))
    if not first:
        raise ValueError("the first row of its metrics.csv is damaged")
    kept = {name: values[:first] for name, values in metrics.items()}
    return kept, [f"{path}: metrics.csv is damaged at row {first + 1}; the {first} rows before it are used."]


def flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested JSON objects as dotted names."""
    named: dict[str, str] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            named |= flat(value, f"{prefix}{name}.")
        else:
            named[f"{prefix}{name}"] = json.dumps(value)
    return named
