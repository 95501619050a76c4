"""Exported files as the tests run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from dcrl.tasks import registry

WHATS = ("elite", "repertoire", "actor")


def drawn(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and descriptors other than those of the parity check, the space's corners among them."""
    task, random = registry.get(name), np.random.default_rng(77)
    space = task.descriptor
    descriptors = random.uniform(space.low, space.high, (count, space.size))
    descriptors[:2] = space.low, space.high
    observations = random.normal(0, 2, (count, task.observation_size))
    return observations.astype(np.float32), descriptors.astype(np.float32)


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
