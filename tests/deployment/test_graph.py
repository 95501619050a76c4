"""ONNX graphs: standard, with a free batch axis, and choosing as the repertoire does."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import dcrl
from dcrl.deployment import graph
from support.exporting import WHATS, drawn, session


def test_the_repertoire_graph_chooses_the_nearest_elite(point, tmp_path):
    """Elites are distinguished by their actions, and every elite is chosen at least once."""
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


def test_an_archive_too_big_for_onnx_is_refused(point, tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "LIMIT", 1000)
    with pytest.raises(ValueError, match="an ONNX file holds at most 2 GiB, and these 8 elites"):
        dcrl.export(point, tmp_path / "all.onnx", what="repertoire")
    assert list(tmp_path.iterdir()) == []
