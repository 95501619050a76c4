"""The directory `reproducibility/`: episodes from which a later call continues, and the results.

episodes.safetensors    every episode's fitness, descriptor and steps, rewritten while they are played
totals.json             the stored metrics, and those of the re-evaluated elites and actor
elites.csv, actor.csv   one row per occupied cell
corrected.safetensors   the corrected archive, a repertoire that `dcrl.load` reads
*.png                   maps: spread of fitness, distance to the centroid, stored next to corrected
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from dcrl.evaluation.repeats import Repeats
from dcrl.evaluation.reproducibility import Measured, Reproducibility, corrected_repertoire, measure
from dcrl.files import checksum, read_json, read_tensors, write_json, write_tensors, write_text
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.runs.config import differences
from dcrl.tasks.fingerprint import fingerprint
from dcrl.tasks.registry import AnyTask
from dcrl.types import Descriptor
from dcrl.version import __version__

EPISODES, TOTALS, ELITES, ACTOR = "episodes.safetensors", "totals.json", "elites.csv", "actor.csv"
CORRECTED = "corrected.safetensors"
PICTURES = ("fitness_spread", "descriptor_error", "corrected")
TENSORS = tuple(field.name for field in fields(Repeats) if field.name not in ("space", "done"))


def about(repertoire: Repertoire, task: AnyTask, seed: int, simulator: str, *, actor: bool) -> dict[str, Any]:
    """What must be equal for episodes to be of the same evaluation."""
    with_actor = actor and repertoire.actor_parameters is not None
    return {
        "archive": archive_checksum(repertoire, actor=with_actor),
        "task": checksum({}, fingerprint(task)),
        "actor": with_actor,
        "seed": seed,
        "simulator": simulator,
    }


def archive_checksum(repertoire: Repertoire, *, actor: bool) -> str:
    """The checksum of what is evaluated: the elites, and the actor if there is one and it is wanted."""
    tensors = {name: getattr(repertoire, name) for name in ("centroids", "occupied", "fitness", "descriptor")}
    tensors["genotype"] = repertoire.genotype
    if actor and repertoire.actor_parameters is not None:
        tensors["actor"] = repertoire.actor_parameters
    return checksum(tensors, {"layers": repertoire.layers.sizes})


def save_episodes(directory: Path, repeats: Repeats, repertoire: Repertoire, own: Mapping[str, Any]) -> None:
    """Write all episodes played so far, atomically."""
    metadata = {
        "task": repertoire.task,
        "algorithm": repertoire.algorithm,
        "seed": repertoire.seed,
        "evaluations": repertoire.evaluations,
        "descriptor": asdict(repeats.space),
        "repeats": len(repeats.fitness),
        "done": repeats.done,
        "about": own,
        "version": __version__,
    }
    tensors = {name: getattr(repeats, name) for name in TENSORS}
    write_tensors(directory / EPISODES, tensors, metadata, own_checksum=True)


def read_episodes(directory: Path) -> tuple[Repeats, dict[str, Any]]:
    """The episodes played so far, and the metadata; a damaged file is refused with a ValueError."""
    path = directory / EPISODES
    if not path.is_file():
        raise ValueError(f"there are no repeats at {directory}: it has no {EPISODES}; `dcrl evaluate RUN` makes one")
    tensors, metadata = read_tensors(path, TENSORS)
    try:
        space: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in metadata["descriptor"].items()}
        parts = {name: tensors[name] for name in TENSORS}
        repeats = Repeats(space=Descriptor(**space), done=int(metadata["done"]), **parts)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not hold repeats: {error}") from None
    count, policies = repeats.fitness.shape if repeats.fitness.ndim == 2 else (0, 0)
    cells, size = len(repeats.cells), repeats.space.size
    fitting = (
        policies in (cells, 2 * cells)
        and repeats.steps.shape == (count, policies)
        and repeats.descriptor.shape == (count, policies, size)
        and repeats.stored_descriptor.shape == (cells, size)
        and repeats.stored_fitness.shape == (cells,)
        and 0 <= repeats.done <= count * policies
    )
    if not fitting:
        raise ValueError(f"{path} does not hold repeats: its tensors do not match")
    return repeats, metadata


def read(directory: str | Path) -> Reproducibility:
    """The results of all repeats done so far, from a `reproducibility/` directory or the run that has one."""
    path = Path(directory)
    if not (path / EPISODES).is_file() and (path / "reproducibility").is_dir():
        path = path / "reproducibility"
    return measure(read_episodes(path)[0])


def differing(metadata: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """How episodes differ from what is asked for; an empty text if they do not."""
    words = {"archive": "another archive", "task": "another version of the task"}
    odd = differences(metadata.get("about"), dict(own))
    return ", ".join(words.get(difference.name, str(difference)) for difference in odd)


def remove_results(directory: Path) -> None:
    """Remove all files of an earlier evaluation."""
    pictures = (f"{whose}{name}.png" for whose in ("", "actor_") for name in PICTURES)
    for name in (EPISODES, TOTALS, ELITES, ACTOR, CORRECTED, *pictures):
        (directory / name).unlink(missing_ok=True)


def write_results(directory: Path, found: Reproducibility, repertoire: Repertoire, own: Mapping[str, Any]) -> None:
    """Tables, totals, the corrected archive and the maps."""
    from dcrl.evaluation.maps import draw

    save(directory / CORRECTED, corrected_repertoire(found, repertoire))
    write_text(directory / ELITES, table(found, found.elites, stored=True))
    if found.actor is not None:
        write_text(directory / ACTOR, table(found, found.actor, stored=False))
    draw(directory, found, repertoire.task)
    write_json(directory / TOTALS, totals(found, repertoire, own))


def totals(found: Reproducibility, repertoire: Repertoire, own: Mapping[str, Any]) -> dict[str, Any]:
    """The totals as JSON, with what they were measured on; null where there is no number."""
    stored = found.stored
    return {
        "task": repertoire.task,
        "algorithm": repertoire.algorithm,
        "seed": repertoire.seed,
        "evaluations": repertoire.evaluations,
        "repeats": found.repeats.whole,
        "about": dict(own),
        "version": __version__,
        "stored": {
            "cells": len(stored.centroids),
            "elites": len(found.repeats.cells),
            "qd_score": stored.qd_score,
            "coverage": stored.coverage,
            "max_fitness": stored.max_fitness,
        },
        "elites": _finite(asdict(found.elites_totals)),
        "actor": None if found.actor_totals is None else _finite(asdict(found.actor_totals)),
    }


def written(directory: Path, own: Mapping[str, Any]) -> bool:
    """Whether these results are complete: their totals are written last."""
    try:
        return bool(read_json(directory / TOTALS) == own)
    except ValueError:
        return False


def table(found: Reproducibility, measured: Measured, *, stored: bool) -> str:
    """CSV, one row per occupied cell; numbers have all their digits."""
    size = found.repeats.space.size
    columns: dict[str, Any] = {"cell": measured.cell, "valid": measured.valid, "steps": measured.steps}
    if stored:
        columns["stored_fitness"] = found.repeats.stored_fitness.astype(np.float64)
    columns |= {"fitness_mean": measured.fitness_mean, "fitness_deviation": measured.fitness_deviation}
    dimensions = {f"centroid_d{i}": found.repeats.centroids[measured.cell, i] for i in range(size)}
    if stored:
        dimensions |= {f"stored_d{i}": found.repeats.stored_descriptor[:, i] for i in range(size)}
    columns |= {name: values.astype(np.float64) for name, values in dimensions.items()}
    columns |= {f"mean_d{i}": measured.descriptor_mean[:, i] for i in range(size)}
    columns |= {f"deviation_d{i}": measured.descriptor_deviation[:, i] for i in range(size)}
    columns["distance_to_centroid"] = measured.distance_to_centroid
    if measured.distance_to_stored is not None:
        columns["distance_to_stored"] = measured.distance_to_stored
    columns["landing"] = measured.landing
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True))
    return text.getvalue()


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in values.items()}
