"""Jobs that train: complete when the budget is used up and the results are those of the last generation."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass

from dcrl.files import read_json
from dcrl.repertoires.load import load
from dcrl.runs.config import RunConfig, completed, differences, to_json
from dcrl.runs.metrics import budget_used, read_metrics
from dcrl.runs.place import Own, is_same
from dcrl.sweeps.job import Order, Progress


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingJob:
    """A run to train with `config`."""

    config: RunConfig
    own: Own  # describes a task and an algorithm of the user's own
    order: Order

    def __str__(self) -> str:
        return f"{self.config.algorithm} on {self.config.task}, seed {self.config.seed}"

    @property
    def is_complete(self) -> bool:
        run = self.order.run
        try:
            counts = read_metrics(run / "metrics.csv")["evaluations"]
            return budget_used(counts, self.config.evaluations) and load(run).evaluations == counts[-1]
        except (ValueError, OSError, KeyError):
            return False

    def progress(self) -> Progress | None:
        """From the last row of its metrics."""
        try:
            columns = read_metrics(self.order.run / "metrics.csv")
            last = {name: float(values[-1]) for name, values in columns.items()}
            words = (
                f"{last['evaluations']:,.0f} evaluations, QD score {last['qd_score']:,.0f}, "
                f"coverage {last['coverage']:.1%}, max fitness {last['max_fitness']:,.0f}"
            )
        except (ValueError, OSError, IndexError, KeyError):
            return None
        return Progress(done=last["evaluations"], total=self.config.evaluations, words=words)

    def check(self) -> None:
        """Refuse a directory that holds a run with other settings, the budget aside."""
        if not self.order.has_started:
            return
        run, free = self.order.run, {"evaluations"}
        before = read_json(run / "config.json")
        for noun in ("task", "algorithm"):
            theirs = str(before.get(noun)) if isinstance(before, dict) else ""
            if is_same(noun, run, theirs, getattr(self.config, noun), self.own.get(noun)):
                free.add(noun)  # perhaps by another name
        found = differences(completed(before), to_json(self.config))
        odd = next((each for each in found if each.name not in free), None)
        if odd is not None:
            there, here = reprlib.repr(odd.before), reprlib.repr(odd.now)
            raise ValueError(
                f"{run} holds a run with another {odd.name}: {there}, not {here}; use the same value, "
                "or another --output"
            )
