"""Exported files act as the repertoire they came from, and say how to be called."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.deployment import arrays, graph, parity
from dcrl.tasks import registry
from support.random_runs import save_run

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


@pytest.mark.parametrize("format", ["onnx", "npz"])
@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_a_file_acts_as_the_repertoire_does(run_of, tmp_path, name, what, format):
    space = registry.BUILT_IN[name].descriptor
    wanted = (0.7 * np.asarray(space.low) + 0.3 * np.asarray(space.high)).tolist() if what == "elite" else None
    path = tmp_path / f"file.{format}"
    done = dcrl.export(run_of(name), path, what=what, descriptor=wanted)
    assert (done.path, done.contract) == (path, tmp_path / f"file.{format}.json")
    assert done.policy == (None if wanted is None else dcrl.load(run_of(name)).policy_for(wanted))
    assert 0 <= done.largest_difference <= 1e-5
    assert json.loads(done.contract.read_text())["parity"] == {
        "observations": 1000 if what == "elite" else 4000,
        "descriptors": 0 if what == "elite" else 1000,
        "largest_absolute_difference": done.largest_difference,
        "allowed": 1e-5,
    }
    found = dcrl.load(run_of(name))
    run = (graph if format == "onnx" else arrays).runner(path.read_bytes())
    for observation, descriptor in zip(*drawn(name, 40), strict=True):
        if what == "elite":
            expected, given = found.policy_for(wanted), None
        else:
            expected, given = (found.policy_for if what == "repertoire" else found.actor)(descriptor), descriptor
        batch = np.stack([observation, -observation])
        np.testing.assert_allclose(run(batch, given), expected(batch), atol=1e-5, rtol=0)
        assert np.abs(expected(batch)).max() > 0.05  # far from a file of zeros


def test_the_repertoire_graph_chooses_the_nearest_elite(point, tmp_path):
    """Elites are told apart by their actions; at an elite's own descriptor it is that elite, and both choices occur."""
    found = dcrl.load(point)
    dcrl.export(point, tmp_path / "all.onnx", what="repertoire")
    running, seen = session(tmp_path / "all.onnx"), drawn("point_omni", 8)[0]
    cells = np.flatnonzero(found.occupied)
    every = np.stack([found.policy(cell)(seen) for cell in cells])
    chosen = set()
    for wanted in (*found.descriptor[cells], *drawn("point_omni", 300)[1]):
        action = running.run(None, {"observation": seen, "descriptor": wanted})[0]
        nearest = int(np.argmin(np.hypot(*(found.descriptor[cells].astype(float) - wanted).T)))
        assert np.abs(every - action).max(axis=(1, 2)).argmin() == nearest
        np.testing.assert_allclose(action, every[nearest], atol=1e-5)
        chosen.add(nearest)
    assert chosen == set(range(len(cells)))


def test_the_actors_descriptor_is_in_the_tasks_units(run_of, tmp_path):
    found = dcrl.load(run_of("ant_omni"))
    dcrl.export(run_of("ant_omni"), tmp_path / "actor.onnx", what="actor")
    running, seen = session(tmp_path / "actor.onnx"), drawn("ant_omni", 5)[0]
    act = lambda wanted: running.run(None, {"observation": seen, "descriptor": np.float32(wanted)})[0]
    for wanted in ([-30, 30], [12.5, -0.25], [0, 0]):
        np.testing.assert_allclose(act(wanted), found.actor(wanted)(seen), atol=1e-5)
    assert np.abs(act([0, 0]) - act([15, 15])).max() > 0.01
    np.testing.assert_array_equal(act([45, -99]), act([30, -30]))  # outside: the nearest within


@pytest.mark.parametrize("what", WHATS)
def test_graphs_are_plain_float32_onnx_with_a_free_batch_axis(point, tmp_path, what):
    path = tmp_path / "file.onnx"
    dcrl.export(point, path, what=what, descriptor=[1, 1] if what == "elite" else None)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 17)]
    assert {node.domain for node in model.graph.node} == {""}
    running = session(path)
    descriptor = [] if what == "elite" else [("descriptor", "tensor(float)", [2])]
    assert [(entry.name, entry.type, entry.shape) for entry in running.get_inputs()] == [
        ("observation", "tensor(float)", ["batch", 5]),
        *descriptor,
    ]
    assert [(entry.name, entry.type, entry.shape) for entry in running.get_outputs()] == [
        ("action", "tensor(float)", ["batch", 2])
    ]
    inputs = {} if what == "elite" else {"descriptor": np.zeros(2, np.float32)}
    for size in (1, 3, 64):
        given = {"observation": np.zeros((size, 5), np.float32)} | inputs
        assert running.run(None, given)[0].shape == (size, 2)


def test_networks_of_any_depth_are_exported(tmp_path):
    for hidden in ((7,), (6, 5, 4)):
        path = save_run(tmp_path / f"{len(hidden)}", "point_omni", hidden=hidden)
        for what in ("repertoire", "actor"):
            for format in ("onnx", "npz"):
                done = dcrl.export(path, tmp_path / f"{len(hidden)}-{what}.{format}", what=what)
                assert done.largest_difference <= 1e-5


def test_npz_files_hold_what_the_archive_holds(point, tmp_path):
    found = dcrl.load(point)
    dcrl.export(point, tmp_path / "all.npz", what="repertoire")
    with np.load(tmp_path / "all.npz", allow_pickle=False) as file:
        content = dict(file)
    cells = np.flatnonzero(found.occupied)
    np.testing.assert_array_equal(content["centroids"], found.centroids[cells])
    np.testing.assert_array_equal(content["descriptors"], found.descriptor[cells])
    np.testing.assert_array_equal(content["fitness"], found.fitness[cells])
    joined = [content[f"{part}_{i}"].reshape(len(cells), -1) for i in range(3) for part in ("kernel", "bias")]
    np.testing.assert_array_equal(np.concatenate(joined, axis=1), found.genotype[cells])
    assert {str(array.dtype) for array in content.values()} == {"float32"}
    shapes = json.loads((tmp_path / "all.npz.json").read_text())["arrays"]
    assert shapes == {name: list(array.shape) for name, array in content.items()}


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


def test_a_repertoire_in_memory_is_exported_without_its_runs_particulars(point, tmp_path):
    dcrl.export(dcrl.load(point), tmp_path / "actor.npz", what="actor")
    contract = json.loads((tmp_path / "actor.npz.json").read_text())
    assert (contract["algorithm"], contract["seed"], contract["elite"]) == (None, None, None)
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


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("module", [graph, arrays])
def test_a_broken_file_is_refused_and_not_kept(point, tmp_path, monkeypatch, what, module):
    """One weight of what is exported is off by 0.01, which the parity check must see."""
    make = getattr(module, what)

    def broken(found: dcrl.Repertoire, *cell: int) -> bytes:
        genotype, actor = found.genotype.copy(), np.array(found.actor_parameters)
        genotype[:, 3] += 0.01
        actor[3] += 0.01
        return make(dataclasses.replace(found, genotype=genotype, actor_parameters=actor), *cell)

    monkeypatch.setattr(module, what, broken)
    path = tmp_path / f"file.{'onnx' if module is graph else 'npz'}"
    with pytest.raises(ValueError, match=r"differs from its source by 0\.0.* 1e-05 is allowed; nothing was written"):
        dcrl.export(point, path, what=what, descriptor=[0, 0] if what == "elite" else None)
    assert list(tmp_path.iterdir()) == []


def test_the_wrong_elite_or_no_number_is_a_difference(point):
    found = dcrl.load(point)
    one, other = np.flatnonzero(found.occupied)[:2].tolist()
    run = graph.runner(graph.elite(found, one))
    assert parity.fixed_difference(run, found.policy(one), 5) <= 1e-6
    assert parity.fixed_difference(run, found.policy(other), 5) > 0.1
    nothing = lambda observation, descriptor: np.full((len(observation), 2), np.nan, np.float32)
    assert np.isnan(parity.fixed_difference(nothing, found.policy(one), 5))
    assert np.isnan(parity.chosen_difference(nothing, found.actor, 5, found.space))
    narrow = lambda observation, descriptor: run(observation, None)[:, :1]
    assert parity.fixed_difference(narrow, found.policy(one), 5) == np.inf


def test_the_command_prints_the_difference(capsys, point, tmp_path):
    path = tmp_path / "policy"
    assert command(["export", str(point), "--descriptor", "-2.5,1", "--format", "onnx", "--output", str(path)]) == 0
    said = capsys.readouterr().out
    difference = json.loads((tmp_path / "policy.json").read_text())["parity"]["largest_absolute_difference"]
    assert f"wrote {path} and its contract {path}.json" in said
    assert f"on 1,000 random observations: {difference:.2g} (1e-05 is allowed)" in said
    assert session(path).get_inputs()[0].name == "observation"


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
