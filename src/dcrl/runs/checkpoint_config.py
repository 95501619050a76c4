"""How often a run's files are written, and where else its metrics go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcrl.hyperparameters import at_least, not_negative, optional_count

LogName = Literal["tensorboard", "wandb"]


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """How often a run's files are written. It does not change results and may differ each time a run is resumed."""

    refresh_seconds: float = 60.0
    """Seconds between two updates of the archive, the actor and the figures."""
    checkpoint_minutes: float = 5.0
    """Minutes between two checkpoints of the whole state, which `dcrl resume` starts from; 0 for every generation."""
    checkpoint_generations: int | None = None
    """Also write a checkpoint every this many generations; by default only the minutes count."""
    keep_checkpoints: int = 2
    """How many of the last checkpoints are kept."""
    log: tuple[LogName, ...] = ()
    """Also log the metrics to tensorboard, wandb (Weights & Biases), or both; each needs an optional extra."""

    def __post_init__(self) -> None:
        not_negative(self, "refresh_seconds", "checkpoint_minutes")
        optional_count(self, "checkpoint_generations")
        at_least(self, 1, "keep_checkpoints")
