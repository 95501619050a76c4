"""The run directory: everything a run leaves behind, refreshed while it goes on, never half-written."""

from __future__ import annotations

import csv
import dataclasses
import io
import platform
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.algorithms.compose import Composition, Report, State
from dcrl.devices import cores
from dcrl.runs import files
from dcrl.runs.config import RunConfig, to_json
from dcrl.runs.repertoire import save_actor, save_archive
from dcrl.tasks import registry as tasks

COLUMNS = (
    "generation",
    "evaluations",
    "environment_steps",
    "wall_seconds",
    "qd_score",
    "coverage",
    "max_fitness",
    "invalid",
)
PACKAGES = ("dcrl-map-elites", "jax", "jaxlib", "mujoco", "mujoco-mjx", "gymnasium", "numpy", "optax", "scikit-learn")


class Run:
    """Owns a directory `<output>/<task>/<algorithm>/seed-<n>`."""

    def __init__(self, path: Path, config: RunConfig, algorithm: Composition) -> None:
        self.path, self.config, self.algorithm = path, config, algorithm
        self._rows: list[dict[str, float]] = []
        self._begun = time.monotonic()

    @staticmethod
    def create(output: Path, config: RunConfig, algorithm: Composition, *, overwrite: bool = False) -> Run:
        """A new directory with its configuration; refuses one that already holds a run."""
        path = directory(output, config)
        if (path / "metrics.csv").exists() or (path / "archive.safetensors").exists():
            if not overwrite:
                raise ValueError(
                    f"{path} already holds a run; choose another --seed or --output, or pass --overwrite to replace it"
                )
            shutil.rmtree(path)
        try:
            (path / "figures").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot write to {path}: {error.strerror}; choose another --output") from None
        run = Run(path, config, algorithm)
        files.write_json(path / "config.json", to_json(config))
        files.write_json(path / "manifest.json", manifest())
        return run

    def record(self, report: Report) -> None:
        """Append a generation to `metrics.csv`."""
        row: dict[str, float] = {name: getattr(report, name) for name in COLUMNS if name != "wall_seconds"} | {
            "wall_seconds": round(time.monotonic() - self._begun, 3)
        }
        for operator in report.operators:
            row[f"added_{operator.name}"] = operator.added
            row[f"improvement_{operator.name}"] = operator.improvement
        self._rows.append(row)
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        files.write_text(self.path / "metrics.csv", text.getvalue())

    @property
    def columns(self) -> tuple[str, ...]:
        per_operator = (f"{what}_{name}" for name in self.algorithm.operator_names for what in ("added", "improvement"))
        return (*COLUMNS, *per_operator)

    def save(self, state: State) -> None:
        """Refresh the archive and the actor."""
        metadata = self._metadata(state)
        save_archive(self.path / "archive.safetensors", state.archive, metadata)
        learner = self.algorithm.learner
        if learner is not None and learner.descriptor_size and learner.conditioned_actor and state.learned is not None:
            actor = metadata | {"layers": learner.actor_layers.sizes}
            save_actor(
                self.path / "actor.safetensors",
                np.asarray(learner.actor_layers.join(state.learned.actor.online)),
                actor,
            )

    def _metadata(self, state: State) -> dict[str, Any]:
        task = tasks.get(self.config.task)
        return {
            "task": self.config.task,
            "algorithm": self.config.algorithm,
            "seed": self.config.seed,
            "layers": self.algorithm.setting.layers.sizes,
            "activation": "relu, then tanh",
            "descriptor": dataclasses.asdict(task.descriptor),
            "generation": state.generation,
            "evaluations": state.evaluations,
            "version": version("dcrl-map-elites"),
            "configuration": to_json(self.config),
        }


def directory(output: Path, config: RunConfig) -> Path:
    """Where a run lives; a task given as `file.py:object` is filed under the object's name."""
    return output / config.task.rpartition(":")[2] / config.algorithm / f"seed-{config.seed}"


def manifest() -> dict[str, Any]:
    """Versions, host, commit and command: what a result was made with."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "host": platform.node(),
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": cores(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source this package runs from, with a + if it was changed since; None when installed."""
    here = Path(__file__).parent
    try:
        commit = _git("rev-parse", "HEAD", at=here)
        return commit + ("+" if _git("status", "--porcelain", "--", str(here.parent), at=here) else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str, at: Path) -> str:
    command = ["git", "-C", str(at), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
