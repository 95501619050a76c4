"""What is written while a run trains: metrics every generation, checkpoints and results when they are due."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from dcrl.algorithms.state import Report, State
from dcrl.runs import config as configs
from dcrl.runs import logs
from dcrl.runs.checkpoint_config import CheckpointConfig
from dcrl.runs.due import Due
from dcrl.runs.run import Run


class Recording:
    """Owns the logs of a run that trains from `state`. Used as a `with` block.

    Whatever ends the block, checkpoint and results of the last complete generation are written. `warn` is called
    with a sentence when a log fails.
    """

    def __init__(self, run: Run, state: State | None, saving: CheckpointConfig, warn: Callable[[str], None]) -> None:
        self.run, self.last = run, state
        run.write_config()
        run.checkpoints.kept = saving.keep_checkpoints
        self._work = (
            (Run.checkpoint, Due(60 * saving.checkpoint_minutes, saving.checkpoint_generations)),
            (publish, Due(saving.refresh_seconds)),
        )
        known = state.evaluations if state is not None else -1
        self._logs = logs.start(saving.log, run.path, configs.to_json(run.config), known, warn)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *error: object) -> None:
        with ExitStack() as each:  # the others are written even if one cannot be
            each.callback(self._logs.close)
            for write, due in self._work[::-1]:
                if self.last is not None and due.generation != self.last.generation:
                    each.callback(write, self.run, self.last)

    def record(self, state: State, report: Report) -> None:
        """A complete generation: its row of metrics."""
        self.last = state
        self._logs.write(self.run.record(report))

    def save_what_is_due(self) -> None:
        """The last generation's checkpoint and results, if it is time."""
        for write, due in self._work:
            if self.last is not None and due.now(self.last):
                write(self.run, self.last)
                due.done(self.last)


def publish(run: Run, state: State) -> None:
    """Refresh archive, actor and figures from the state in memory."""
    from dcrl.figures.curves import improvement_curves, metric_curves
    from dcrl.figures.maps import archive_map

    run.save(state)
    figures = run.path / "figures"
    space = run.algorithm.setting.descriptor
    archive_map(state.archive, space, run.task.name, figures / "archive.png")
    metric_curves(run.metrics, figures / "curves.png")
    improvement_curves(run.metrics, figures / "improvement.png")
