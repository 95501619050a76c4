"""What the reader of a guide has by then: runs with many elites, files from elsewhere, and names in Python."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dcrl
from dcrl.archive.centroids import centroids
from dcrl.repertoires.placing import placed, template
from dcrl.repertoires.save import save
from dcrl.tasks import registry
from support.random_runs import give_actor, random_parameters
from support.shortened import HIDDEN
from support.synthetic import write_run

RUN = Path("runs/walker2d_uni/dcrl_me/seed-0")


def full_archive(task: str = "walker2d_uni", run: Path = RUN) -> dict[str, Any]:
    """A run whose 1,024 cells all have an elite, and an actor; the elites are random policies."""
    space = registry.get(task).descriptor
    like = template(task, centroids(space, 1024, 50_000, 0), HIDDEN)
    cells = np.arange(1024)
    fitness = np.linspace(0, 2000, 1024, dtype=np.float32)
    made = placed(run, like, like.centroids, cells, fitness, like.centroids, random_parameters(like.layers, 1024, 0))
    run.mkdir(parents=True, exist_ok=True)
    save(run / "archive.safetensors", replace(made, algorithm="dcrl_me", seed=0, evaluations=7680))
    give_actor(run)
    return {"repertoire": dcrl.load(run)}


def gymnasium_task() -> dict[str, Any]:
    """Besides, a task that is a Gymnasium environment, and a policy of it."""
    task = "examples/own_gymnasium_task.py:task"
    genotype = np.zeros(template(task).layers.parameters, np.float32)
    return full_archive() | {"task": registry.get(task), "genotype": genotype}


def elites_from_elsewhere() -> dict[str, Any]:
    return full_archive() | arrays_of_qdax()


def deployment() -> dict[str, Any]:
    """Besides, the actor of the point as an ONNX file, which the example reads."""
    full_archive("point_omni", Path("runs/point_omni/dcrl_me/seed-0"))
    return full_archive()


def runs_to_compare() -> dict[str, Any]:
    shutil.rmtree("runs")  # runs of few evaluations cannot be compared with these
    for place, tasks in (("runs", ("ant_omni", "walker2d_uni")), ("other/runs", ("ant_omni",))):
        for task in tasks:
            for algorithm in ("dcrl_me", "dcg_me", "me"):
                for seed in (10, 11, 12):
                    write_run(
                        Path(place), task, algorithm, seed + (place != "runs"), 400_000 + 1000 * seed, batch=100_000
                    )
    return {}


def arrays_of_qdax() -> dict[str, Any]:
    """Arrays as QDax saves them, of policies with two hidden layers of 128."""
    layers = template("walker2d_uni").layers
    Path("mine").mkdir()
    for name, array in {
        "genotypes": random_parameters(layers, 4, 0),
        "fitnesses": np.array([1, 2, -np.inf, 3], np.float32),
        "descriptors": np.array([[0.2, 0.2], [0.2, 0.8], [0, 0], [0.8, 0.8]], np.float32),
        "centroids": np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]], np.float32),
    }.items():
        np.save(Path("mine") / f"{name}.npy", array)
    return {}


def own_robot() -> dict[str, Any]:
    def my_robot(genotypes: np.ndarray, seeds: Any) -> dcrl.Evaluation:
        return dcrl.rollout("point_omni", genotypes, seeds, hidden=HIDDEN)

    return {"my_robot": my_robot}


def runs_of_a_study() -> dict[str, Any]:
    """Runs to re-evaluate, in the directory of a study."""
    shutil.copytree("runs/point_omni", "runs/paper/point_omni")
    return {}


PREPARED: dict[str, Callable[[], dict[str, Any]]] = {
    "docs/coming-from.md": arrays_of_qdax,
    "docs/report.md": runs_to_compare,
    "docs/scale.md": runs_of_a_study,
    "docs/render.md": gymnasium_task,
    "docs/repertoires.md": elites_from_elsewhere,
    "docs/explorer.md": full_archive,
    "docs/deploy.md": deployment,
    "docs/ask-tell.md": own_robot,
}
