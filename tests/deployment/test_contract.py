"""Contracts: everything that a caller needs, as the documentation uses it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import dcrl
from support.random_runs import save_run


def test_the_contract_says_all_that_a_caller_needs(run_of, tmp_path):
    run, path = run_of("humanoid_omni"), tmp_path / "elite.onnx"
    dcrl.export(run, path, descriptor=[-2.5, 4])
    contract = json.loads((tmp_path / "elite.onnx.json").read_text())
    assert contract["file"] == "elite.onnx"
    assert contract["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    about = ("format", "what", "task", "algorithm", "seed", "generation", "evaluations", "opset")
    assert [contract[name] for name in about] == ["onnx", "elite", "humanoid_omni", "dcrl_me", 3, 7, 2048, 17]
    assert contract["inputs"] == [{"name": "observation", "dtype": "float32", "shape": ["batch", 247]}]
    assert contract["outputs"] == [{"name": "action", "dtype": "float32", "shape": ["batch", 17]}]
    entries = contract["observation"]["entries"]
    assert len(entries) == 247
    assert entries[1] == {"name": "torso y", "unit": "m", "divided_by": 10.0}
    assert entries[2] == {"name": "torso z", "unit": "m", "divided_by": 1.0}
    assert entries[3] == {"name": "torso quaternion w", "unit": None, "divided_by": 1.0}
    assert contract["observation"]["computed_by"] == "dcrl.tasks.humanoid.observe_position"
    assert (contract["action"]["low"], contract["action"]["high"]) == (-1, 1)
    assert contract["action"]["entries"][0] == {
        "name": "abdomen_y",
        "control_low": pytest.approx(-0.4),
        "control_high": pytest.approx(0.4),
    }
    assert contract["control_period_seconds"] == pytest.approx(0.015)
    assert contract["episode_steps"] == 1000
    described = contract["descriptor"]
    assert (described["names"], described["unit"]) == (["final x", "final y"], "m")
    assert (described["low"], described["high"]) == ([-10, -10], [10, 10])
    found = dcrl.load(run)
    cell = contract["elite"]["cell"]
    assert contract["elite"]["asked_for"] == [-2.5, 4]
    assert contract["elite"]["descriptor"] == found.descriptor[cell].tolist()
    assert contract["elite"]["fitness"] == found.fitness[cell]
    assert contract["versions"]["onnxruntime"] == onnxruntime.__version__
    assert contract["versions"]["trained_with"] == "0.1.0"


def test_a_repertoire_in_memory_is_exported_with_its_algorithm_and_seed(point, tmp_path):
    dcrl.export(dcrl.load(point), tmp_path / "actor.npz", what="actor")
    contract = json.loads((tmp_path / "actor.npz.json").read_text())
    assert (contract["algorithm"], contract["seed"], contract["elite"]) == ("dcrl_me", 3, None)
    assert contract["inputs"][1] == {"name": "descriptor", "dtype": "float32", "shape": [2]}
    assert "onnx" not in contract["versions"]


SWIMMER = """
import dcrl
speeds = dcrl.Descriptor(names=("x", "y"), unit="m/s", low=(-1.0, -1.0), high=(1.0, 1.0), over="mean")
task = dcrl.GymnasiumTask(name="swimmer", summary="", environment="Swimmer-v5", descriptor=speeds,
                          step_descriptor=dcrl.from_info("x_velocity", "y_velocity"))
"""


def test_a_task_from_gymnasium_has_a_contract_too(tmp_path):
    (tmp_path / "swimmer.py").write_text(SWIMMER)
    run = save_run(tmp_path / "run", f"{tmp_path / 'swimmer.py'}:task")
    dcrl.export(run, tmp_path / "actor.onnx", what="actor", trust_task=True)
    contract = json.loads((tmp_path / "actor.onnx.json").read_text())
    assert contract["control_period_seconds"] is None
    assert [entry["name"] for entry in contract["observation"]["entries"]] == [f"observation {i}" for i in range(8)]
    assert contract["action"]["entries"][1] == {"name": "action 1", "control_low": -1.0, "control_high": 1.0}


def test_the_example_of_the_documentation_runs(point, tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1
    dcrl.export(point, tmp_path / "actor.onnx", what="actor")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(blocks[0], "docs/deploy.md", "exec"), names)
    seen = np.zeros((1, 5), np.float32)
    expected = dcrl.load(point).actor([1.5, -2.0])(seen)[0]
    np.testing.assert_allclose(names["control"], expected, atol=1e-5)  # the point's control range is [-1, 1]
