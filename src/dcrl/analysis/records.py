"""One run, read from its light files (config.json, manifest.json, metrics.csv); none of its code is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.analysis.metrics import STORED
from dcrl.figures.series import operators_of
from dcrl.files import read_json
from dcrl.repertoires.trust import name_of
from dcrl.runs.config import completed
from dcrl.runs.lock import is_locked
from dcrl.runs.metrics import budget_used, read_metrics
from dcrl.types import Floats

REQUIRED = ("generation", "evaluations", "wall_seconds", *STORED)
LONGEST_NAME = 200  # characters, of a task or an algorithm
DEEPEST = 20  # objects within objects, in a configuration


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """A run. `series` names what it is one seed of: its algorithm, or a variant of it."""

    path: Path
    task: str
    algorithm: str
    series: str
    seed: int
    budget: int  # evaluations asked for
    settings: dict[str, str]  # the configuration, flat: field to value
    manifest: dict[str, Any]
    metrics: dict[str, Floats]  # columns of metrics.csv, one row per generation
    in_progress: bool

    @property
    def evaluations(self) -> int:
        """Evaluations made so far."""
        return int(self.metrics["evaluations"][-1])

    def reached(self, evaluations: int) -> bool:
        """Whether it has made so many evaluations, or its next generation would exceed them."""
        return budget_used(self.metrics["evaluations"], evaluations)

    @property
    def operators(self) -> tuple[str, ...]:
        return operators_of(self.metrics)


def read(path: Path) -> tuple[Record, list[str]]:
    """The record of one run directory, and remarks on it; a ValueError if the run cannot be used."""
    config = _config(path)
    metrics, remarks = _undamaged(path, read_metrics(path / "metrics.csv"))
    try:
        manifest = read_json(path / "manifest.json")
    except ValueError:
        manifest = {}
    record = Record(
        path=path,
        task=_name("task", config["task"], path),
        algorithm=_name("algorithm", config["algorithm"], path),
        series=_name("algorithm", config["algorithm"], path),
        seed=config["seed"],
        budget=config["evaluations"],
        settings=flat(completed(config)),
        manifest=manifest if isinstance(manifest, dict) else {},
        metrics=metrics,
        in_progress=is_locked(path),
    )
    if record.in_progress:
        remarks.append(f"{path} is still running; its {record.evaluations:,} evaluations so far are used.")
    return record, remarks


def _config(path: Path) -> dict[str, Any]:
    config = read_json(path / "config.json")
    if not isinstance(config, dict):
        raise ValueError("its config.json is not a JSON object")
    for name, kind in {"task": str, "algorithm": str, "seed": int, "evaluations": int}.items():
        if type(config.get(name)) is not kind:
            raise ValueError(f"its config.json lacks the field {name!r}, or the field is of the wrong type")
        if kind is str and not _is_name(config[name].rpartition(":")[2]):
            raise ValueError(
                f"the {name} in its config.json must be a name of 1 to {LONGEST_NAME} printable characters"
            )
    return config


def _name(noun: str, text: str, path: Path) -> str:
    """The name of its task or algorithm, if it is one to print."""
    named = name_of(noun, text, path)
    return named if _is_name(named) else text.rpartition(":")[2]


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and not text.isspace()


def _undamaged(path: Path, metrics: dict[str, Floats]) -> tuple[dict[str, Floats], list[str]]:
    """The rows of the metrics before the first damaged one."""
    missing = [name for name in REQUIRED if name not in metrics]
    if missing:
        raise ValueError(f"its metrics.csv has no rows, or no column {missing[0]!r}")
    counts = metrics["evaluations"]
    own = {f"{what}_{operator}" for operator in operators_of(metrics) for what in ("improvement", "added")}
    needed = [name for name in metrics if name in REQUIRED or name in own]
    needed.remove("max_fitness")  # there is none while an archive is empty
    valid = np.isfinite(np.stack([metrics[name] for name in needed])).all(axis=0)
    valid &= np.concatenate([[True], counts[1:] > counts[:-1]])
    if valid.all():
        return metrics, []
    first = int(np.argmin(valid))
    if not first:
        raise ValueError("the first row of its metrics.csv is damaged")
    kept = {name: values[:first] for name, values in metrics.items()}
    return kept, [f"{path}: metrics.csv is damaged at row {first + 1}; the rows before it are used."]


def flat(content: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, str]:
    """Nested JSON objects as dotted names."""
    if depth > DEEPEST:
        raise ValueError(f"its config.json has objects nested deeper than {DEEPEST}")
    named: dict[str, str] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            named |= flat(value, f"{prefix}{name}.", depth + 1)
        else:
            named[f"{prefix}{name}"] = json.dumps(value)
    return named
