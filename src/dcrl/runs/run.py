"""The run directory: all files of a run, each updated atomically while it trains."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any

import numpy as np

from dcrl import files
from dcrl.algorithms.algorithm import Algorithm, generations
from dcrl.algorithms.state import Report, State
from dcrl.networks.perceptrons import join
from dcrl.repertoires.save import save_actor, save_archive
from dcrl.repertoires.trust import name_of
from dcrl.runs.actor import conditioned_learner, stored_actor
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.config import RunConfig, to_json
from dcrl.runs.lock import Lock
from dcrl.runs.manifest import manifest, note_own
from dcrl.runs.metrics import read_metrics
from dcrl.runs.place import Own, check_owner, describe, directory
from dcrl.runs.started import has_started
from dcrl.tasks import registry as tasks
from dcrl.tasks.fingerprint import fingerprint
from dcrl.types import Floats
from dcrl.version import __version__

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


class Run:
    """Owns a directory `<output>/<task>/<algorithm>/seed-<n>`."""

    def __init__(
        self,
        path: Path,
        config: RunConfig,
        algorithm: Algorithm,
        task: tasks.AnyTask | None = None,
        code: str | None = None,
        moved: Own | None = None,
    ) -> None:
        """`code` is the checksum of an own algorithm's file; `moved` says where own code is, if that is to be noted."""
        self.path, self.config, self.algorithm, self.code = path, config, algorithm, code
        self.task = tasks.get(config.task) if task is None else task
        self._moved = moved or {}
        self.checkpoints = Checkpoints(path / "checkpoints")
        self._rows: list[dict[str, Any]] = []
        self._begun = time.monotonic()
        self._lock = Lock(path)

    @staticmethod
    def create(output: Path, config: RunConfig, algorithm: Algorithm, *, overwrite: bool = False) -> Run:
        """A new directory with its configuration; refuses one that holds a run.

        One of another task or algorithm is not overwritten either.
        """
        task = tasks.get(config.task)
        path = directory(output, config, task)
        own = describe(config.task, config.algorithm, task, path)
        used = has_started(path)
        if used:
            check_owner(path, config, own)
        if used and not overwrite:
            raise ValueError(
                f"{path} already holds a run; `dcrl resume {quote(str(path))}` continues it, --overwrite replaces it, "
                "another --seed or --output starts a new one"
            )
        try:
            (path / "figures").mkdir(parents=True, exist_ok=True)
            run = Run(path, config, algorithm, task, own.get("algorithm", {}).get("sha256"))
        except OSError as error:
            raise ValueError(f"cannot write to {path}: {error.strerror}; choose another --output") from None
        if used:
            run.clear()
        run.write_config()
        files.write_json(path / "manifest.json", manifest(own))
        return run

    def write_config(self) -> None:
        files.write_json(self.path / "config.json", to_json(self.config))
        if self._moved:
            note_own(self.path, self._moved)

    def clear(self) -> None:
        """Remove the files of an earlier run."""
        for name in ("metrics.csv", "archive.safetensors", "actor.safetensors", "wandb.json"):
            (self.path / name).unlink(missing_ok=True)
        for name in ("checkpoints", "figures", "reproducibility", "tensorboard", "wandb"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        (self.path / "figures").mkdir()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes use the directory."""
        self._lock.release()

    @property
    def generations(self) -> int:
        """How many generations follow the initial one within the budget."""
        return generations(self.algorithm, self.config.evaluations)

    def is_finished(self, state: State) -> bool:
        """Whether the budget is used up."""
        return state.generation >= self.generations

    def checkpoint(self, state: State) -> None:
        """Write the whole state, which `restore` reads."""
        self._lock.check()
        self.checkpoints.save(state, self._about)

    def restore(self, warn: Callable[[str], None]) -> State | None:
        """The newest intact state and the metrics up to it; None if the run has no checkpoint yet.

        `warn` is called with a sentence for each newer checkpoint that is damaged.
        """
        state = self.checkpoints.load(self.algorithm.empty_state(self.config.seed), self._about, warn)
        rows = _read_rows(self.path / "metrics.csv") if (self.path / "metrics.csv").exists() else []
        if state is None and (len(rows) > 1 or self.checkpoints.any):
            raise ValueError(
                f"{self.path} has no intact checkpoint to resume from; its archive and metrics are unchanged, "
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
        about = {"configuration": configuration, "task": fingerprint(self.task)}
        if self.code is not None:
            about["algorithm"] = {"sha256": self.code}
        content: dict[str, Any] = json.loads(json.dumps(about))
        return content

    def record(self, report: Report) -> dict[str, float]:
        """Append a generation to `metrics.csv`; its row."""
        self._lock.check()
        row: dict[str, float] = {name: getattr(report, name) for name in COLUMNS if name != "wall_seconds"} | {
            "wall_seconds": round(time.monotonic() - self._begun, 3)
        }
        for operator in report.operators:
            row[f"added_{operator.name}"] = operator.added
            row[f"improvement_{operator.name}"] = operator.improvement
            row[f"evaluations_{operator.name}"] = operator.evaluations
            if operator.similarity is not None:
                row[f"similarity_{operator.name}"] = operator.similarity
        self._rows.append(row)
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        files.write_text(self.path / "metrics.csv", text.getvalue())
        return row

    @property
    def metrics(self) -> dict[str, Floats]:
        """The columns of `metrics.csv` so far."""
        return {name: np.array([_number(row.get(name)) for row in self._rows]) for name in self.columns}

    @property
    def columns(self) -> tuple[str, ...]:
        names = self.algorithm.operator_names
        achieved = (f"{what}_{name}" for name in names for what in ("added", "improvement"))
        counted = (f"evaluations_{name}" for name in names)
        return (*COLUMNS, *achieved, *counted, *(f"similarity_{name}" for name in self.algorithm.targeted_names))

    def save(self, state: State) -> None:
        """Refresh the archive and the actor."""
        self._lock.check()
        metadata = self._metadata(state)
        save_archive(self.path / "archive.safetensors", state.archive, metadata, state.entered)
        learner = conditioned_learner(self.algorithm)
        if learner is not None:
            own = metadata | {"layers": learner.actor_layers.sizes}
            save_actor(self.path / "actor.safetensors", np.asarray(join(stored_actor(self.config, state))), own)

    def is_published(self, state: State) -> bool:
        """Whether the archive and the actor are those of this state."""
        names = ("archive", *(("actor",) if conditioned_learner(self.algorithm) is not None else ()))
        try:
            found = [files.read_tensors(self.path / f"{name}.safetensors")[1] for name in names]
        except ValueError:
            return False
        return all(metadata.get("generation") == state.generation for metadata in found)

    def _metadata(self, state: State) -> dict[str, Any]:
        return {
            "task": self.config.task,
            "algorithm": name_of("algorithm", self.config.algorithm, self.path),
            "seed": self.config.seed,
            "layers": self.algorithm.setting.layers.sizes,
            "activation": "relu, then tanh",
            "descriptor": dataclasses.asdict(self.task.descriptor),
            "generation": state.generation,
            "evaluations": state.evaluations,
            "version": __version__,
            "configuration": to_json(self.config),
        }


def _number(value: Any) -> float:
    return float("nan") if value in (None, "") else float(value)


def _read_rows(path: Path) -> list[dict[str, Any]]:
    read_metrics(path)  # refuses what is too large to be held as rows
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        return [row for row in rows if int(row["generation"]) >= 0 and float(row["wall_seconds"]) >= 0]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}, which the run resumes from: {error}") from None
