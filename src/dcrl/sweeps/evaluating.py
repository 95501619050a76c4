"""Jobs that re-evaluate: complete when the totals of this archive, with so many repeats, have been written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcrl.evaluation.files import TOTALS, archive_checksum
from dcrl.files import read_json
from dcrl.repertoires.load import load
from dcrl.sweeps.job import RUN, Order, Progress

ARCHIVE, PART = "archive.safetensors", "reproducibility"


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationJob:
    """A run whose elites, and actor if wanted, are evaluated so many times."""

    order: Order
    repeats: int
    seed: int
    actor: bool

    def __str__(self) -> str:
        return str(self.order.run)

    @property
    def is_complete(self) -> bool:
        try:
            totals = self._totals()
            repertoire = load(self.order.run)
            actor = self.actor and repertoire.actor_parameters is not None
            asked = (self.repeats, self.seed, archive_checksum(repertoire, actor=actor))
            return bool((totals["repeats"], totals["about"]["seed"], totals["about"]["archive"]) == asked)
        except (ValueError, OSError, KeyError, TypeError):
            return False

    def progress(self) -> Progress | None:
        try:
            totals = self._totals()
            stored, expected = totals["stored"]["qd_score"], totals["elites"]["expected_qd_score"]
            words = f"{totals['repeats']} repeats, QD score {stored:,.0f} stored and {expected:,.0f} expected"
        except (ValueError, KeyError, TypeError):
            return None
        return Progress(done=totals["repeats"], total=self.repeats, words=words)

    def _totals(self) -> Any:
        return read_json(self.order.written / TOTALS)


def evaluation_job(run: Path, flags: tuple[str, ...], *, repeats: int, seed: int, actor: bool) -> EvaluationJob:
    """The job of `dcrl evaluate RUN` with these flags."""
    command = ("evaluate", RUN, "--repeats", str(repeats), "--seed", str(seed), *flags)
    order = Order(
        output=run.parent,
        place=Path(run.name),
        start=command,
        resume=command,
        directory=Path.cwd(),
        label=".evaluate",
        part=PART,
    )
    return EvaluationJob(order=order, repeats=repeats, seed=seed, actor=actor)


def runs_below(paths: Iterable[Path]) -> list[Path]:
    """Each path that is a run or a repertoire's file, and the runs below each other directory, without repetition."""
    found: dict[Path, Path] = {}
    for path in paths:
        inside = path.is_dir() and not (path / ARCHIVE).exists()
        runs = sorted(each.parent for each in path.rglob(ARCHIVE)) if inside else [path]
        if not runs:
            raise ValueError(f"there is no run at or below {path}: no directory there has an {ARCHIVE}")
        for run in runs:
            found.setdefault(run.resolve(), run)
    return list(found.values())
