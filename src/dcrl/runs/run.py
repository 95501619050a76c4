"""The run directory: everything a run leaves behind, refreshed while it goes on, never half-written."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dcrl import files
from dcrl.algorithms.algorithm import Algorithm, Report, State
from dcrl.devices import cores
from dcrl.learners.td3 import TD3
from dcrl.networks.perceptrons import join
from dcrl.repertoires.save import save_actor, save_archive
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.config import RunConfig, to_json
from dcrl.runs.lock import Lock
from dcrl.tasks import registry as tasks
from dcrl.tasks.fingerprint import fingerprint

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

    def __init__(self, path: Path, config: RunConfig, algorithm: Algorithm) -> None:
        self.path, self.config, self.algorithm = path, config, algorithm
        self.checkpoints = Checkpoints(path / "checkpoints")
        self._rows: list[dict[str, Any]] = []
        self._begun = time.monotonic()
        self._lock = Lock(path)

    @staticmethod
    def create(output: Path, config: RunConfig, algorithm: Algorithm, *, overwrite: bool = False) -> Run:
        """A new directory with its configuration; refuses one that already holds a run."""
        path = directory(output, config.task, config.algorithm, config.seed)
        used = any((path / name).exists() for name in ("metrics.csv", "archive.safetensors", "checkpoints"))
        if used and not overwrite:
            raise ValueError(
                f"{path} already holds a run; `dcrl resume {path}` goes on with it, --overwrite replaces it, "
                "another --seed or --output starts a new one"
            )
        try:
            (path / "figures").mkdir(parents=True, exist_ok=True)
            run = Run(path, config, algorithm)
        except OSError as error:
            raise ValueError(f"cannot write to {path}: {error.strerror}; choose another --output") from None
        if used:
            run.clear()
        run.write_config()
        files.write_json(path / "manifest.json", manifest())
        return run

    def write_config(self) -> None:
        files.write_json(self.path / "config.json", to_json(self.config))

    def clear(self) -> None:
        """Remove what an earlier run left."""
        for name in ("metrics.csv", "archive.safetensors", "actor.safetensors", "wandb.json"):
            (self.path / name).unlink(missing_ok=True)
        for name in ("checkpoints", "figures", "reproducibility", "tensorboard", "wandb"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        (self.path / "figures").mkdir()

    def close(self) -> None:
        """Let other processes use the directory."""
        self._lock.release()

    def checkpoint(self, state: State) -> None:
        """Write the whole state, from which `restore` goes on."""
        self.checkpoints.save(state, self._about)

    def restore(self, say: Callable[[str], None]) -> State | None:
        """The newest intact state and the metrics up to it; None if the run had not got as far as a checkpoint."""
        state = self.checkpoints.load(self.algorithm.blank(self.config.seed), self._about, say)
        rows = _read_rows(self.path / "metrics.csv") if (self.path / "metrics.csv").exists() else []
        if state is None and (len(rows) > 1 or self.checkpoints.any):
            raise ValueError(
                f"{self.path} has no intact checkpoint to go on from; its archive and metrics are as they were, "
                "and `dcrl train` with --overwrite starts it again"
            )
        self._rows = [row for row in rows if state is not None and int(row["generation"]) <= state.generation]
        self._begun = time.monotonic() - (float(self._rows[-1]["wall_seconds"]) if self._rows else 0.0)
        (self.path / "figures").mkdir(exist_ok=True)
        for name in ("*.json", "*.csv", "*.safetensors"):
            files.forget_unfinished(self.path, name)
        return state

    @property
    def _about(self) -> dict[str, Any]:
        """What a checkpoint must agree with: the task, and the configuration but for the budget."""
        configuration = {name: value for name, value in to_json(self.config).items() if name != "evaluations"}
        about = {"configuration": configuration, "task": fingerprint(tasks.get(self.config.task))}
        content: dict[str, Any] = json.loads(json.dumps(about))
        return content

    def record(self, report: Report) -> dict[str, float]:
        """Append a generation to `metrics.csv`; its row."""
        row: dict[str, float] = {name: getattr(report, name) for name in COLUMNS if name != "wall_seconds"} | {
            "wall_seconds": round(time.monotonic() - self._begun, 3)
        }
        for operator in report.operators:
            row[f"added_{operator.name}"] = operator.added
            row[f"improvement_{operator.name}"] = operator.improvement
            row[f"evaluations_{operator.name}"] = operator.evaluations
        self._rows.append(row)
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        files.write_text(self.path / "metrics.csv", text.getvalue())
        return row

    @property
    def columns(self) -> tuple[str, ...]:
        names = self.algorithm.operator_names
        achieved = (f"{what}_{name}" for name in names for what in ("added", "improvement"))
        return (*COLUMNS, *achieved, *(f"evaluations_{name}" for name in names))

    def save(self, state: State) -> None:
        """Refresh the archive and the actor."""
        metadata = self._metadata(state)
        save_archive(self.path / "archive.safetensors", state.archive, metadata)
        learner = distilled(self.algorithm)
        if learner is not None:
            layers, actor = learner.actor_layers, state.learned[0].actor.online
            own = metadata | {"layers": layers.sizes}
            save_actor(self.path / "actor.safetensors", np.asarray(join(actor)), own)

    def saved(self, state: State) -> bool:
        """Whether the archive and the actor are those of this state."""
        names = ("archive", *(("actor",) if distilled(self.algorithm) is not None else ()))
        try:
            found = [files.read_tensors(self.path / f"{name}.safetensors")[1] for name in names]
        except ValueError:
            return False
        return all(metadata.get("generation") == state.generation for metadata in found)

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


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        return [row for row in rows if int(row["generation"]) >= 0 and float(row["wall_seconds"]) >= 0]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}, which the run goes on from: {error}") from None


def distilled(algorithm: Algorithm) -> TD3 | None:
    """The learner whose actor holds the whole repertoire, if there is one."""
    conditioned = (learner for learner in algorithm.learners if learner.descriptor_size and learner.conditioned_actor)
    return next(conditioned, None)


def directory(output: Path, task: str, algorithm: str, seed: int) -> Path:
    """Where a run lives; a task given as `file.py:object` is filed under the object's name."""
    return output / task.rpartition(":")[2] / algorithm / f"seed-{seed}"


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
