"""Run directories of random policies, made without training."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from dcrl.archive.archive import Archive
from dcrl.files import read_tensors
from dcrl.networks.policies import Layers
from dcrl.repertoires.load import load
from dcrl.repertoires.save import save_actor, save_archive
from dcrl.tasks import registry

CELLS = 12
HIDDEN = (16, 12)


def random_parameters(layers: Layers, count: int, seed: int) -> np.ndarray:
    """(count, P) with every action between its bounds and, unlike initial ones, biases."""
    random = np.random.default_rng(seed)
    parameters = random.normal(0, 0.3, (count, layers.parameters)).astype(np.float32)
    for kernel, _ in layers.split(parameters):
        kernel /= np.sqrt(kernel.shape[1]) * 0.3
    return parameters


def save_run(
    path: Path,
    name: str,
    *,
    actor: bool = True,
    hidden: tuple[int, ...] = HIDDEN,
    cells: int = CELLS,
    seed: int = 3,
) -> Path:
    """A run directory of random elites, every third cell empty, and of a random actor."""
    task, random = registry.get(name), np.random.default_rng(seed + 2)
    layers = Layers((task.observation_size, *hidden, task.action_size))
    space, full = task.descriptor, np.arange(cells) % 3 != 0
    centroids = random.uniform(space.low, space.high, (cells, space.size)).astype(np.float32)
    nearby = centroids + random.normal(0, 0.01, centroids.shape).astype(np.float32)
    archive = Archive(
        centroids=centroids,
        fitness=np.where(full, random.uniform(0, 50, cells), -np.inf).astype(np.float32),
        descriptor=np.where(full[:, None], np.clip(nearby, space.low, space.high), np.nan).astype(np.float32),
        genotype=np.where(full[:, None], random_parameters(layers, cells, seed + 3), 0),
    )
    path.mkdir(parents=True)
    metadata = {"task": name, "algorithm": "dcrl_me", "seed": seed, "generation": 7, "evaluations": 2048}
    metadata |= {"layers": layers.sizes, "descriptor": dataclasses.asdict(space), "version": "0.1.0"}
    save_archive(path / "archive.safetensors", archive, metadata)
    if actor:
        conditioned = Layers((task.observation_size + space.size, *hidden, task.action_size))
        own = metadata | {"layers": conditioned.sizes}
        save_actor(path / "actor.safetensors", random_parameters(conditioned, 1, 8)[0], own)
    return path


def give_actor(run: Path, parameters: np.ndarray | None = None) -> None:
    """Give a run without an actor a random one, or one with these parameters."""
    _, about = read_tensors(run / "archive.safetensors")
    layers = load(run).actor_layers
    own = {name: value for name, value in about.items() if name != "checksum"} | {"layers": layers.sizes}
    save_actor(run / "actor.safetensors", random_parameters(layers, 1, 8)[0] if parameters is None else parameters, own)
