"""What a training run shows: a preview, then a progress bar in a terminal or one line per generation elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dcrl.algorithms import registry
from dcrl.algorithms.state import Report, State
from dcrl.repertoires.words import plural
from dcrl.runs.actor import conditioned_learner
from dcrl.runs.config import RunConfig
from dcrl.runs.memory import memory
from dcrl.runs.presets import FAST_ALGORITHM
from dcrl.runs.run import Run

GIB = 2**30


def preview(run: Run) -> None:
    """What is about to run, what it needs and what it writes."""
    config, algorithm, layers = run.config, run.algorithm, run.algorithm.setting.layers
    lines = [
        f"{config.algorithm} on {config.task}, seed {config.seed}",
        f"  policies     {' - '.join(map(str, layers.sizes))}, {layers.parameters:,} parameters",
        f"  budget       {config.evaluations:,} evaluations: {algorithm.initial_evaluations} at the start, then "
        f"{plural(run.generations, 'generation')} of {algorithm.generation_evaluations} ({algorithm.plan})",
        *faster(config),
        "  first steps  slower: JAX compiles each stage the first time",
        f"  memory       about {memory(run.task, algorithm) / GIB:.1f} GiB at most",
        f"  writes       {run.path}: config, manifest, metrics, archive"
        + (", actor" if conditioned_learner(algorithm) is not None else "")
        + ", figures and checkpoints, refreshed while it runs",
    ]
    print("\n".join(lines), flush=True)


def faster(config: RunConfig) -> list[str]:
    """What the preset `fast` would bring to a run with the paper's settings; measured in docs/algorithms/fast.md."""
    if config.algorithm != FAST_ALGORITHM or config.hyperparameters != registry.get(FAST_ALGORITHM).default:
        return []
    return [
        "  faster       --preset fast reaches the QD score of such a run in about 0.4 of the time (walker, hopper and "
        "half-cheetah, 7,680 evaluations, 2 cores)"
    ]


class Display:
    """Progress of a run."""

    def __init__(self, generations: int, evaluations: int = 0, *, enabled: bool) -> None:
        self._console = Console()
        self._enabled = enabled
        self._generations = generations
        self._last = (time.monotonic(), evaluations)  # the rate is that of this process
        self._seen: set[str] = set()
        self._progress: Progress | None = None
        if enabled and self._console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[numbers]}"),
            )
            self._progress = Progress(*columns, console=self._console)
            self._bar = self._progress.add_task("start", total=generations, numbers="")

    def __enter__(self) -> Display:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def stage(self, name: str) -> None:
        first = name not in self._seen
        self._seen.add(name)
        if self._progress is not None:
            self._progress.update(self._bar, description=f"{name:<12}")
        elif self._enabled and first:
            print(f"stage {name}", flush=True)

    def report(self, state: State, report: Report) -> None:
        now = time.monotonic()
        rate = (report.evaluations - self._last[1]) / max(now - self._last[0], 1e-9)
        self._last = now, report.evaluations
        added = " ".join(f"{operator.name} +{operator.added}" for operator in report.operators)
        numbers = (
            f"QD score {report.qd_score:,.0f}  coverage {report.coverage:.1%}  max fitness {report.max_fitness:,.0f}  "
            f"{added}  {rate:.0f} evaluations/s"
        )
        if report.invalid:
            numbers += f"  {report.invalid} invalid"
        if self._progress is not None:
            self._progress.update(self._bar, completed=report.generation, numbers=numbers)
        elif self._enabled:
            print(
                f"generation {report.generation}/{self._generations}  evaluations {report.evaluations:,}  {numbers}",
                flush=True,
            )
