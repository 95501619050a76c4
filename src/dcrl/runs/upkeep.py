"""What a run keeps up beside the training: how often its files are written, and where else its metrics go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LogName = Literal["tensorboard", "wandb"]


@dataclass(frozen=True, kw_only=True)
class Upkeep:
    """Nothing of it changes what a run finds, so it may differ each time the run goes on."""

    refresh_seconds: float = 60.0
    """How often the archive, the actor and the figures are refreshed while training, in seconds."""
    checkpoint_minutes: float = 5.0
    """How often the whole state is saved, from which `dcrl resume` goes on, in minutes; 0 for every generation."""
    checkpoint_generations: int | None = None
    """Also save the whole state every so many generations; by default the minutes alone decide."""
    keep_checkpoints: int = 2
    """How many of the last checkpoints are kept."""
    log: tuple[LogName, ...] = ()
    """Where else the metrics go: tensorboard, wandb (Weights & Biases), or both; each an optional extra."""

    def __post_init__(self) -> None:
        if not (self.refresh_seconds >= 0 and self.checkpoint_minutes >= 0):
            raise ValueError(
                "refresh_seconds and checkpoint_minutes must be at least 0, "
                f"got {self.refresh_seconds} and {self.checkpoint_minutes}"
            )
        if self.checkpoint_generations is not None and self.checkpoint_generations < 1:
            raise ValueError(f"checkpoint_generations must be at least 1, got {self.checkpoint_generations}")
        if self.keep_checkpoints < 1:
            raise ValueError(f"keep_checkpoints must be at least 1, got {self.keep_checkpoints}")
