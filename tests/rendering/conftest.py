"""A run of the point, whose nine elites push it steadily towards nine places; and whether OpenGL works here."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import Layers
from dcrl.rendering.camera import open_renderer
from dcrl.repertoires.save import save, save_actor
from dcrl.tasks.point import point_omni

LAYERS = Layers((5, 4, 2))
PUSHES = [(x, y) for y in (-0.6, 0.0, 0.6) for x in (-0.6, 0.0, 0.6)]  # N


@pytest.fixture(scope="session")
def opengl() -> None:
    try:
        open_renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8).close()
    except RuntimeError as error:
        pytest.skip(f"without OpenGL, rendering of robots is NOT tested: {error}")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten cells, the last of them empty; fitness and descriptors are stored from the start state of seed 0."""
    genotypes = np.zeros((10, LAYERS.parameters), np.float32)
    genotypes[:9, -2:] = np.arctanh(PUSHES)
    played = dcrl.rollout("point_omni", genotypes, 0, hidden=(4,))
    occupied = np.arange(10) < 9
    repertoire = dcrl.Repertoire(
        task="point_omni",
        layers=LAYERS,
        space=point_omni.descriptor,
        centroids=np.concatenate([played.descriptor[:9], [[3, 3]]]).astype(np.float32),
        occupied=occupied,
        fitness=np.where(occupied, played.fitness, np.nan).astype(np.float32),
        descriptor=np.where(occupied[:, None], played.descriptor, np.nan).astype(np.float32),
        genotype=genotypes,
    )
    path = tmp_path_factory.mktemp("run")
    save(path / "archive.safetensors", repertoire)
    actor = np.random.default_rng(0).normal(0, 0.5, Layers((7, 4, 2)).parameters)
    save_actor(path / "actor.safetensors", actor, {"task": "point_omni", "layers": (7, 4, 2)})
    return path
