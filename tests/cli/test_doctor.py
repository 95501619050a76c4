"""`dcrl doctor`: this installation is in order, and every optional extra is known."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from dcrl.cli import doctor
from dcrl.cli.doctor import EXTRAS
from dcrl.cli.main import command


def test_doctor_finds_this_installation_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["mujoco"] == version("mujoco")
    status = {check["what"]: check["status"] for check in found["checks"]}
    assert {status[what] for what in ("packages", "cores", "jax devices", "rollout")} == {"ok"}
    assert set(status.values()) <= {"ok", "missing"}
    sentences = {check["what"]: check["sentence"] for check in found["checks"]}
    assert f"onnx {version('onnx')}, onnxruntime {version('onnxruntime')}, for `dcrl export" in sentences["onnx"]
    assert set(EXTRAS) <= set(status)


def test_doctor_knows_every_extra_and_what_it_gives(monkeypatch) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    declared = {
        name: tuple(Requirement(need).name for need in needs)
        for name, needs in project["optional-dependencies"].items()
        if name not in ("dev", "docs", "mjx", "render")
    }
    assert {name: EXTRAS[name][0] for name in declared} == declared
    monkeypatch.setattr(doctor, "installed", lambda name: None)
    check = doctor._checked("onnx", lambda: doctor._extra("onnx", *EXTRAS["onnx"]))
    assert check.status == "missing"
    assert check.sentence.startswith("onnx, onnxruntime not installed; pip install 'dcrl-map-elites[onnx]' adds `dcrl")


def test_an_extra_that_cannot_be_imported_is_no_installed_one(monkeypatch, tmp_path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError('libray.so: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    check = doctor._checked("ray", lambda: doctor._extra("ray", *EXTRAS["ray"]))
    assert check.status == "missing"
    assert "cannot be imported (ImportError: libray.so: cannot open shared object file); pip install" in check.sentence
