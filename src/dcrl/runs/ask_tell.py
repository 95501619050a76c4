"""Ask and tell: a run whose episodes are played by the caller, a robot or a simulator that cannot be called from here.

    with dcrl.ask_tell("point_omni", evaluations=7_680) as search:
        while not search.finished:
            asked = search.ask()
            search.tell(played(asked.genotype, asked.seeds))

Reports, checkpoints and results are those of `dcrl train`, and so is the run directory.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dcrl.algorithms import catalogue
from dcrl.algorithms.asked import Asked
from dcrl.algorithms.state import Report, State, with_entries
from dcrl.files import read_json
from dcrl.networks.policies import HIDDEN
from dcrl.runs import presets, training
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.config import RunConfig, differences, to_json
from dcrl.runs.place import directory
from dcrl.runs.presets import Preset
from dcrl.runs.recording import Recording
from dcrl.runs.run import Run
from dcrl.runs.started import has_started
from dcrl.simulators.workers import HERE_ONLY
from dcrl.tasks import registry as tasks
from dcrl.types import Evaluation
from dcrl.user_code import trust
from dcrl.user_code.reference import is_reference


@contextmanager
def ask_tell(
    task: str,
    algorithm: str = catalogue.DEFAULT,
    *,
    preset: Preset | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    output: str | Path = "runs",
    hidden: tuple[int, ...] = HIDDEN,
    hyperparameters: Any = None,
    overwrite: bool = False,
    saving: CheckpointConfig = training.DEFAULT,
) -> Iterator[AskTell]:
    """A run that asks for policies and receives their evaluations; the arguments are those of `dcrl.train`.

    Use it in a `with` block, which writes a checkpoint and the results at its end. If the run directory holds a run
    with these settings, it continues from its newest checkpoint; the budget may differ. `saving` says how often files
    are written.
    """
    config = presets.run_config(
        task, algorithm, preset, evaluations, seed, hidden, simulator=None, hyperparameters=hyperparameters
    )
    with _opened(config, Path(output), saving, overwrite) as run:
        state = run.restore(_warn)
        with Recording(run, state, saving, _warn) as recording:
            yield AskTell(run, state, recording)


class AskTell:
    """A run that asks for policies and receives their evaluations."""

    def __init__(self, run: Run, state: State | None, recording: Recording) -> None:
        self.run = run
        self.state = run.algorithm.empty_state(run.config.seed) if state is None else state
        self._asked: Asked | None = None
        self._recording = recording

    @property
    def path(self) -> Path:
        """The run directory, which `dcrl.load` reads."""
        return self.run.path

    @property
    def finished(self) -> bool:
        """Whether the budget is used up."""
        return self._recording.last is self.state and self.run.is_finished(self.state)

    def ask(self) -> Asked:
        """The policies to evaluate next; the same ones until `tell` is called."""
        if self.finished:
            raise ValueError(f"the budget of {self.run.config.evaluations:,} evaluations is used up")
        if self._asked is None:
            self._asked = self.run.algorithm.ask(self.state, self.run.config.seed)
        return self._asked

    def tell(self, *evaluations: Evaluation) -> Report | None:
        """The evaluations of the policies asked for, in order, in one or more parts.

        The report of the generation, which is written before this returns; None if it is not complete yet: ME-ES asks
        twice per generation.
        """
        if self._asked is None:
            raise ValueError("nothing was asked: call ask first, then tell once")
        state, report = self.run.algorithm.tell(self._asked, evaluations)
        self.state, self._asked = with_entries(state, self.state), None
        if report is not None:
            self._recording.record(self.state, report)
            self._recording.save_what_is_due()
        return report


@contextmanager
def _opened(config: RunConfig, output: Path, saving: CheckpointConfig, overwrite: bool) -> Iterator[Run]:
    """A new run, or the one in the run directory if it has the same settings."""
    path = directory(output, config, tasks.get(config.task))
    if overwrite or not has_started(path):
        with training.begin(config, output, saving, overwrite=overwrite, where=HERE_ONLY) as run:
            yield run
        return
    found = differences(read_json(path / "config.json"), to_json(config))
    odd = next((each for each in found if each.name != "evaluations"), None)
    if odd is not None:
        raise ValueError(f"{path} holds a run with another {odd}; use the same value, or another output")
    for named in (config.task, config.algorithm):
        if is_reference(named):
            trust.remember(named)
    with training.reopen(path, saving, evaluations=config.evaluations, where=HERE_ONLY) as run:
        yield run


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=3)
