"""Exported files have the actions of their repertoire; what cannot be exported is refused and leaves no file."""

from __future__ import annotations

import dataclasses
import json
import os
import sys

import numpy as np
import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.deployment import arrays, graph
from dcrl.tasks import registry
from support.exporting import WHATS, drawn, session
from support.making import refused
from support.random_runs import CELLS, save_run


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


def test_networks_of_any_depth_are_exported(tmp_path):
    for hidden in ((7,), (6, 5, 4)):
        path = save_run(tmp_path / f"{len(hidden)}", "point_omni", hidden=hidden)
        for what in ("repertoire", "actor"):
            for format in ("onnx", "npz"):
                done = dcrl.export(path, tmp_path / f"{len(hidden)}-{what}.{format}", what=what)
                assert done.largest_difference <= 1e-5


def test_the_command_prints_the_difference(capsys, point, tmp_path):
    path = tmp_path / "policy"
    assert command(["export", str(point), "--descriptor", "-2.5,1", "--format", "onnx", "--output", str(path)]) == 0
    said = capsys.readouterr().out
    difference = json.loads((tmp_path / "policy.json").read_text())["parity"]["largest_absolute_difference"]
    assert f"wrote {path} and its contract {path}.json" in said
    assert f"on 1,000 random observations: {difference:.2g} (1e-05 is allowed)" in said
    assert session(path).get_inputs()[0].name == "observation"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--descriptor", "1"], "a descriptor of point_omni is 2 numbers (final x, final y) from (-3.0, -3.0)"),
        (["--descriptor", "1,2,3"], "is 2 numbers (final x, final y)"),
        (["--descriptor", "1,3.5"], "to (3.0, 3.0), got [1.0, 3.5]"),
        (["--descriptor", "nan,0"], "is 2 numbers (final x, final y)"),
        (["--descriptor", "one,two"], "--descriptor is comma-separated numbers, such as 0.4,0.7, got 'one,t"),
        (["--descriptor", ""], "--descriptor is comma-separated numbers"),
        (["--cell", "0"], "cell 0 is empty; the nearest elite is in cell"),
        (["--cell", "1", "--descriptor", "1,2"], "by its descriptor or by its cell; give one of the two"),
        (["--what", "actor", "--descriptor", "1,2"], "an exported actor takes the descriptor as an input"),
        (["--what", "repertoire", "--cell", "1"], "an exported repertoire takes the descriptor as an input"),
    ],
)
def test_a_descriptor_that_cannot_be_is_refused(capsys, point, tmp_path, flags, sentence):
    assert sentence in refused(capsys, "export", point, *flags, "--output", tmp_path / "file.onnx")
    assert list(tmp_path.iterdir()) == []


def test_python_refuses_what_is_no_descriptor_or_no_such_thing(point, tmp_path):
    for wrong in ("here", [[1, 2], [3]], {"x": 1}):
        with pytest.raises(ValueError, match="a descriptor of point_omni is 2 numbers"):
            dcrl.export(point, tmp_path / "file.npz", descriptor=wrong)
    with pytest.raises(ValueError, match="what to export is one of elite, repertoire, actor, got 'critic'"):
        dcrl.export(point, tmp_path / "file.npz", what="critic")
    assert list(tmp_path.iterdir()) == []


def test_what_the_run_does_not_have_is_refused(capsys, tmp_path):
    run, output = save_run(tmp_path / "run", "point_omni", actor=False), tmp_path / "file.onnx"
    sentence = "this repertoire has no descriptor-conditioned actor: its algorithm does not train one"
    assert sentence in refused(capsys, "export", run, "--what", "actor", "--output", output)
    assert "there is no repertoire at" in refused(
        capsys, "export", tmp_path / "none", "--what", "actor", "--output", output
    )
    nothing = dataclasses.replace(dcrl.load(run), occupied=np.zeros(CELLS, bool))
    with pytest.raises(ValueError, match="the repertoire is empty"):
        dcrl.export(nothing, output, what="repertoire")
    other = dataclasses.replace(dcrl.load(run), task="hopper_uni")
    with pytest.raises(ValueError, match="the task hopper_uni now has 12 and 3; export with the task they came from"):
        dcrl.export(other, output, what="repertoire")
    assert not output.exists()


def test_an_output_that_cannot_be_is_refused(capsys, point, tmp_path):
    (tmp_path / "file").write_text("mine")
    elite = (point, "--descriptor", "1,2", "--output")
    missing = tmp_path / "none" / "elite.onnx"
    assert f"there is no directory {missing.parent}" in refused(capsys, "export", *elite, missing)
    assert "there is no directory" in refused(capsys, "export", *elite, tmp_path / "file" / "elite.onnx")
    assert "is a directory; expected the name of a file" in refused(
        capsys, "export", *elite, tmp_path, "--format", "onnx"
    )
    assert "the format is onnx or npz, got 'pt'" in refused(capsys, "export", *elite, tmp_path / "elite.pt")
    # A valid name, but a temporary name is too long, however short the process number
    long = tmp_path / f"{'n' * 245}.onnx"
    assert "File name too long; choose another --output" in refused(capsys, "export", *elite, long)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_contract_that_cannot_be_written_takes_the_file_with_it(capsys, point, tmp_path):
    room = 255 - len(f"..{os.getpid()}.npz")  # the name just fits with its temporary parts, the contract's does not
    path = tmp_path / f"{'n' * room}.npz"
    assert "File name too long" in refused(capsys, "export", point, "--what", "actor", "--output", path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_kept_unless_told(capsys, point, tmp_path):
    path = tmp_path / "file.npz"
    flags = (point, "--what", "actor", "--output", path)
    path.write_text("mine")
    assert f"{path} exists already; --overwrite replaces it" in refused(capsys, "export", *flags)
    assert path.read_text() == "mine"
    assert command(["export", *map(str, flags), "--overwrite"]) == 0
    capsys.readouterr()
    path.unlink()
    assert f"{path}.json exists" in refused(capsys, "export", *flags)


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_missing_packages_are_named(capsys, point, tmp_path, monkeypatch, package):
    monkeypatch.delitem(sys.modules, "dcrl.deployment.graph")
    monkeypatch.setitem(sys.modules, package, None)  # what Python takes for a package that cannot be imported
    flags = (point, "--descriptor", "1,2", "--output")
    assert "pip install 'dcrl-map-elites[onnx]'" in refused(capsys, "export", *flags, tmp_path / "elite.onnx")
    assert list(tmp_path.iterdir()) == []
    assert command(["export", *map(str, flags), str(tmp_path / "elite.npz")]) == 0
