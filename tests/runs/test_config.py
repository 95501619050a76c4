"""Configurations: read back as they were written, and refused with the field that does not fit."""

from __future__ import annotations

import dataclasses
import json
import shutil

import numpy as np
import pytest

from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.algorithms.me import MEConfig
from dcrl.runs.config import from_json, read, to_json
from dcrl.version import __version__
from support.making import FORMAT_1
from support.run_config import ARCHIVE, CONFIG


@pytest.mark.parametrize(
    "hyperparameters", [DCRLConfig(), CONFIG.hyperparameters, MEConfig(), MEConfig(archive=ARCHIVE)]
)
def test_configurations_are_read_back(hyperparameters):
    algorithm = "me" if isinstance(hyperparameters, MEConfig) else "dcrl_me"
    config = dataclasses.replace(CONFIG, algorithm=algorithm, hyperparameters=hyperparameters)
    assert from_json(to_json(config)) == config
    assert from_json(json.loads(json.dumps(to_json(config)))) == config


def without(content: dict, *path: str) -> dict:
    """A copy that lacks one field."""
    head, *rest = path
    changed = {name: value for name, value in content.items() if name != head}
    return changed | {head: without(content[head], *rest)} if rest else changed


def test_an_option_that_no_longer_exists_is_ignored_if_it_was_off():
    stored = to_json(CONFIG)
    hyperparameters = stored["hyperparameters"]
    hyperparameters["approach"]["approach_updates"] = None
    hyperparameters["td3"]["return_steps"] = 1
    hyperparameters |= {"relabelled": 0.0, "ascii_offspring": None, "ascii": {"ascii_steps": 32}}
    assert from_json(stored) == CONFIG


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [("approach", "approach_updates", 0.125), ("td3", "return_steps", 3), ("pg", "parent_age", 2)],
)
def test_an_option_that_no_longer_exists_is_named_if_it_was_on(group, name, value):
    stored = to_json(CONFIG)
    stored["hyperparameters"][group][name] = value
    with pytest.raises(ValueError, match=f"'{name}' does not fit"):
        from_json(stored)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (without(to_json(CONFIG), "seed"), "'seed' does not fit"),
        (
            without(to_json(CONFIG), "hyperparameters", "td3", "discount"),
            r"hyperparameters\.td3 .* 'discount' does not",
        ),
        (to_json(CONFIG) | {"colour": "red"}, "'colour' does not fit"),
        (to_json(CONFIG) | {"algorithm": "mee"}, "there is no algorithm 'mee'"),
        (to_json(CONFIG) | {"hyperparameters": 3}, "hyperparameters must be an object, got 3"),
        (to_json(CONFIG) | {"seed": -1}, "whole number from 0"),
    ],
)
def test_a_configuration_that_does_not_fit_names_the_field(content, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_json(content)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"seed": 1.5}, r"whole number from 0 to 2\^32 - 1, got 1\.5"),
        ({"seed": 2**32}, "whole number"),
        ({"seed": True}, r"whole number from 0 to 2\^32 - 1, got True"),
        ({"evaluations": True}, "the budget is a whole number of evaluations, got True"),
        ({"evaluations": float("nan")}, "the budget is a whole number of evaluations, got nan"),
        ({"algorithm": None}, "its algorithm by name, or as file.py:object, got None"),
        ({"hidden": 3}, "at least one layer of 1 unit or more, got 3"),
        ({"hidden": (True,)}, "at least one layer of 1 unit or more"),
        ({"hidden": ()}, "at least one layer of 1 unit or more"),
        ({"hidden": (16, 0)}, "at least one layer of 1 unit or more"),
        ({"hyperparameters": MEConfig()}, "hyperparameters of dcrl_me are a DCRLConfig, got a MEConfig"),
        ({"hyperparameters": {"ga_offspring": 3}}, "are a DCRLConfig, got a dict"),
    ],
)
def test_an_impossible_configuration_is_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        dataclasses.replace(CONFIG, **wrong)


def test_numbers_of_numpy_are_read_back_as_whole_numbers():
    config = dataclasses.replace(CONFIG, seed=np.int64(3), evaluations=np.int32(64), hidden=[8, 8])
    assert config == dataclasses.replace(CONFIG, seed=3, evaluations=64, hidden=(8, 8))
    assert from_json(json.loads(json.dumps(to_json(config)))) == config


def test_a_configuration_of_another_version_is_refused_with_that_version(tmp_path):
    for name in ("config.json", "manifest.json"):
        shutil.copy(FORMAT_1 / name, tmp_path)
    assert read(tmp_path).task == "point_omni"
    content = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(content | {"colour": "red"}))
    commit = json.loads((tmp_path / "manifest.json").read_text())["commit"][:7]
    made = f"'colour' does not fit \\(made with dcrl 0.1.0, commit {commit}; this is {__version__}\\)"
    with pytest.raises(ValueError, match=made):
        read(tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(ValueError, match=r"'colour' does not fit \(its version is unknown\)"):
        read(tmp_path)
