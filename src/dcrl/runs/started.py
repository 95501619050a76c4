"""Whether a directory holds a run; without JAX, which the processes that start runs on a cluster do not need."""

from __future__ import annotations

from pathlib import Path

METRICS, ARCHIVE, CHECKPOINTS = LEFT = ("metrics.csv", "archive.safetensors", "checkpoints")


def has_started(run: Path) -> bool:
    """Whether a run has left something: it is resumed then, if only from its beginning, and not started anew."""
    return any((run / name).exists() for name in LEFT)
