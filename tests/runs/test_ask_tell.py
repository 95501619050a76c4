"""A run by ask and tell leaves what `dcrl train` leaves, also when it is interrupted and continued."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

import dcrl
from dcrl.runs.checkpoint_config import CheckpointConfig
from support.generations import DCRL
from support.generations import SMALL as CONFIGS

EVERY = CheckpointConfig(checkpoint_minutes=0)


def left(run: Path) -> dict[str, Any]:
    """Everything that a run leaves but its wall time."""
    found: dict[str, Any] = {"config": (run / "config.json").read_text()}
    with open(run / "metrics.csv", newline="") as file:
        found["metrics"] = [{**row, "wall_seconds": ""} for row in csv.DictReader(file)]
    for path in sorted(run.rglob("*.safetensors")):
        name = str(path.relative_to(run))
        found |= {f"{name}: {key}": value.tobytes() for key, value in load_file(path).items()}
    return found


def search(algorithm: str, output: Path, evaluations: int) -> Any:
    return dcrl.ask_tell(
        "point_omni",
        algorithm,
        evaluations=evaluations,
        output=output,
        hidden=(16, 16),
        hyperparameters=CONFIGS[algorithm],
        saving=EVERY,
    )


def play(run: Any, tells: int = 1000) -> int:
    """Play what is asked for, so many times or until the budget is used up; how many generations were completed."""
    reports = 0
    while not run.finished and tells:
        report = run.tell(run.run.algorithm.setting.evaluate(run.ask()))
        tells, reports = tells - 1, reports + (report is not None)
    return reports


@pytest.mark.parametrize(("algorithm", "evaluations", "stop"), [("dcrl_me", 64, 2), ("me_es", 72, 4)])
def test_a_run_by_ask_and_tell_leaves_what_train_leaves(tmp_path, algorithm, evaluations, stop):
    dcrl.train(
        "point_omni",
        algorithm,
        evaluations=evaluations,
        output=tmp_path / "train",
        hidden=(16, 16),
        hyperparameters=CONFIGS[algorithm],
        checkpoint_minutes=0,
    )
    with search(algorithm, tmp_path / "asked", evaluations) as first:  # me_es stops in the middle of a generation
        assert play(first, stop) == 2
    with search(algorithm, tmp_path / "asked", evaluations) as second:
        assert not second.finished
        assert play(second) == 2
        with pytest.raises(ValueError, match=f"the budget of {evaluations} evaluations is used up"):
            second.ask()
    place = Path("point_omni") / algorithm / "seed-0"
    assert second.path == tmp_path / "asked" / place
    assert left(second.path) == left(tmp_path / "train" / place)
    with search(algorithm, tmp_path / "asked", evaluations) as third:
        assert third.finished


def test_what_cannot_be_is_refused(tmp_path):
    with search("dcrl_me", tmp_path, 32) as run:
        with pytest.raises(ValueError, match="nothing was asked: call ask first, then tell once"):
            run.tell()
        assert run.ask() is run.ask()
        play(run, 1)
        with pytest.raises(ValueError, match="in use"), search("dcrl_me", tmp_path, 32):
            pass
    other = dcrl.ask_tell("point_omni", evaluations=32, output=tmp_path, hidden=(8, 8), hyperparameters=DCRL)
    sentence = r"another hidden was \[16, 16\] and is now \[8, 8\]; use the same value, or another output"
    with pytest.raises(ValueError, match=sentence), other:
        pass
