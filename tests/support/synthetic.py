"""Light files of runs with known numbers, as `dcrl train` and `dcrl evaluate` write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dcrl.runs import config as configs

OPERATORS = {
    "dcrl_me": ("ga", "pg", "ai"),
    "dcg_me": ("ga", "pg", "actor"),
    "pga_me": ("ga", "pg", "actor"),
    "qd_pg": ("ga", "quality_pg", "diversity_pg"),
    "me": ("ga",),
    "me_es": ("es",),
    "ablation_ai": ("ga", "pg"),
    "ablation_actor": ("ga", "pg"),
}


def write_run(
    root: Path,
    task: str,
    algorithm: str,
    seed: int,
    final: float,
    *,
    generations: int = 9,
    batch: int = 100,
    budget: int | None = None,
    changes: dict[str, object] | None = None,
    folder: str = "",
    seconds: float = 2.0,
) -> Path:
    """A run whose QD score climbs in equal steps from 0 to `final`, its operators sharing each step equally.

    Coverage is a millionth of the QD score, max fitness a hundredth of it. A generation takes `seconds`.
    """
    path = root / (folder or task) / algorithm / f"seed-{seed}"
    path.mkdir(parents=True)
    config = configs.to_json(configs.default(task, algorithm))
    config |= {"seed": seed, "evaluations": budget or batch * (generations + 1)}
    for name, value in (changes or {}).items():
        place = config
        *parents, last = name.split(".")
        for parent in parents:
            place = place[parent]
        place[last] = value
    (path / "config.json").write_text(json.dumps(config))
    command = ["/somewhere/bin/dcrl", "train", task, "--algorithm", algorithm, "--seed", str(seed)]
    (path / "manifest.json").write_text(json.dumps({"command": command, "commit": "0123456789"}))
    write_metrics(path, OPERATORS[algorithm], np.linspace(0, final, generations + 1), batch, seconds)
    return path


def write_metrics(path: Path, operators: Sequence[str], scores: np.ndarray, batch: int, seconds: float = 2.0) -> None:
    columns = ["generation", "evaluations", "wall_seconds", "qd_score", "coverage", "max_fitness"]
    columns += [f"{what}_{name}" for name in operators for what in ("added", "improvement")]
    lines = [",".join(columns)]
    gained = np.diff(scores, prepend=scores[0])
    for generation, score in enumerate(scores):
        row = [generation, batch * (generation + 1), seconds * generation, score, score / 1e6, score / 100]
        for number, _ in enumerate(operators):
            row += [(number + 1) * (generation > 0), gained[generation] / len(operators)]
        lines.append(",".join(map(str, row)))
    (path / "metrics.csv").write_text("\n".join(lines) + "\n")


def write_evaluation(
    path: Path,
    score: float,
    *,
    actor: bool,
    distance: float = 0.25,
    evaluations: int = 1000,
    folder: str = "reproducibility",
) -> None:
    """The part of an evaluation's totals that a report reads, of the archive after so many evaluations."""
    own = {
        "expected_qd_score": score,
        "expected_distance_to_centroid": distance,
        "expected_max_fitness": score / 100,
        "corrected_qd_score": score / 2,
    }
    totals = {"evaluations": evaluations, "repeats": 8, "elites": own, "actor": own if actor else None}
    (path / folder).mkdir()
    (path / folder / "totals.json").write_text(json.dumps(totals))
