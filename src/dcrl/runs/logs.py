"""The rows of `metrics.csv` for TensorBoard and Weights & Biases, as they come; the step is the evaluations.

Both packages are optional. A log that fails is closed with a warning; the run and its `metrics.csv` continue.
"""

from __future__ import annotations

import importlib
import os
import platform
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, get_args

from dcrl import files
from dcrl.runs.checkpoint_config import LogName

PROJECT = "dcrl"  # at Weights & Biases, unless WANDB_PROJECT names another


class Log(Protocol):
    """A destination that takes one row per generation."""

    def write(self, row: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files in `<run>/tensorboard`, a new one each time the run is resumed.

    Records are written at once by this thread: the package's own EventFileWriter has a thread, whose failure
    would reach the terminal as a traceback.
    """

    def __init__(self, run: Path, evaluations: int) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        directory = run / "tensorboard"
        directory.mkdir(exist_ok=True)
        # TensorBoard reads a directory's files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns() / 1e9:020.9f}.{platform.node()}.{os.getpid()}"
        self._writer = RecordWriter(open(directory / name, "wb"))  # noqa: SIM115
        self._add(file_version="brain.Event:2")
        restart = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        self._add(step=evaluations + 1, session_log=restart)  # voids what an earlier process wrote from here on
        self._writer.flush()

    def write(self, row: Mapping[str, float]) -> None:
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in row.items()]
        self._add(step=int(row["evaluations"]), summary=self._summary(value=values))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def _add(self, **content: Any) -> None:
        self._writer.write(self._event(wall_time=time.time(), **content).SerializeToString())


class WeightsAndBiases:
    """A run at Weights & Biases (or, with WANDB_MODE=offline, in `<run>/wandb`); its id is kept in `wandb.json`."""

    def __init__(self, run: Path, configuration: Mapping[str, Any], *, again: bool) -> None:
        import wandb

        known = run / "wandb.json"
        identity = files.read_json(known)["id"] if again and known.exists() else uuid.uuid4().hex[:12]
        self._run = wandb.init(
            dir=str(run),
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            id=identity,
            name=f"{configuration['task']} {configuration['algorithm']} seed {configuration['seed']}",
            resume="allow",
            reinit="create_new",
            config=dict(configuration),
            settings=wandb.Settings(silent=True, console="off"),  # the terminal is the display's
        )
        files.write_json(known, {"id": identity})

    def write(self, row: Mapping[str, float]) -> None:
        self._run.log(dict(row), step=int(row["evaluations"]))

    def close(self) -> None:
        self._run.finish()


class Logs:
    """Owns the logs that were asked for, and closes those that fail with a call of `warn`."""

    def __init__(self, opened: Iterable[tuple[str, Callable[[], Log]]], warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._logs: dict[str, Log] = {}
        for name, begin in opened:
            self._try(name, partial(self._open, name, begin))

    def write(self, row: Mapping[str, float]) -> None:
        for name, log in tuple(self._logs.items()):
            self._try(name, partial(log.write, row))

    def close(self) -> None:
        for name, log in tuple(self._logs.items()):
            self._try(name, log.close)
        self._logs.clear()

    def _open(self, name: str, begin: Callable[[], Log]) -> None:
        self._logs[name] = begin()

    def _try(self, name: str, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:  # a log must never end a run
            self._logs.pop(name, None)
            reason = " ".join(str(error).split()) or type(error).__name__
            self._warn(f"logging to {name} failed and stops here; the run continues: {reason}")


def check(names: Iterable[str]) -> None:
    """Refuse a log that does not exist or whose package is not installed."""
    for name in names:
        if name not in get_args(LogName):
            raise ValueError(f"metrics can be logged to {' or '.join(get_args(LogName))}, got {name!r}")
        try:
            importlib.import_module(name)
        except ImportError:
            raise ValueError(
                f"logging to {name} needs a package that is not installed; pip install 'dcrl-map-elites[{name}]'"
            ) from None


def start(
    names: Iterable[str], run: Path, configuration: Mapping[str, Any], evaluations: int, warn: Callable[[str], None]
) -> Logs:
    """The logs of a run after so many evaluations; -1 for a new run."""
    ways: dict[str, Callable[[], Log]] = {
        "tensorboard": lambda: TensorBoard(run, evaluations),
        "wandb": lambda: WeightsAndBiases(run, configuration, again=evaluations >= 0),
    }
    return Logs(((name, ways[name]) for name in dict.fromkeys(names)), warn)
