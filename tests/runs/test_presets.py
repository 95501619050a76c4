"""Presets: what each sets, and what overrides it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import dcrl
from dcrl.algorithms.dcrl_me import DCRLConfig
from dcrl.cli.train import config_of, parse
from dcrl.runs import presets
from dcrl.runs.config import RunConfig
from support.small_runs import ARCHIVE

DOCS = Path(__file__).parents[2] / "docs"


def configuration(*flags: str, task: str = "walker2d_uni") -> RunConfig:
    return config_of(parse([task, *flags]))


def test_quick_and_paper_are_the_papers_settings():
    for flags, evaluations in (((), 7_680), (("--preset", "quick"), 7_680), (("--preset", "paper"), 1_000_000)):
        found = configuration(*flags)
        assert (found.evaluations, found.hyperparameters) == (evaluations, DCRLConfig())
    assert configuration("--preset", "paper", "--evaluations", "512").evaluations == 512


def test_fast_is_a_configuration_that_single_flags_override():
    found = configuration("--preset", "fast")
    assert found.evaluations == presets.EVALUATIONS["fast"]
    assert found.hyperparameters == presets.FAST != DCRLConfig()
    td3 = presets.FAST.td3
    changed = configuration("--preset", "fast", "--batch-size", "7", "--evaluations", "4096")
    assert changed.evaluations == 4096
    assert changed.hyperparameters.td3 == dataclasses.replace(td3, batch_size=7)
    assert changed.hyperparameters.pg == presets.FAST.pg


def test_fast_rewards_the_approach_where_the_descriptor_is_the_final_position():
    found = configuration("--preset", "fast", task="ant_omni").hyperparameters
    assert found == presets.FAST_POSITION
    assert presets.FAST_POSITION.approach.approach_weight
    assert presets.FAST.approach == DCRLConfig().approach
    assert configuration("--preset", "paper", task="ant_omni").hyperparameters == DCRLConfig()
    changed = config_of(parse(["--batch-size", "7", "--preset", "fast", "ant_omni"])).hyperparameters
    assert changed.td3 == dataclasses.replace(presets.FAST_POSITION.td3, batch_size=7)
    assert presets.run_config("ant_omni", "dcrl_me", "fast", None, 0, (8,), None, None).hyperparameters == found


def test_fast_has_gentle_actors_and_fewer_updates_on_the_half_cheetah():
    found = configuration("--preset", "fast", task="halfcheetah_uni").hyperparameters
    assert found == presets.FAST_HALFCHEETAH
    assert (found.ai.injected, found.ai.gentle) == ("target", 0.5)
    assert found.td3 == dataclasses.replace(presets.FAST.td3, updates_per_transition=1 / 64)
    assert configuration("--preset", "paper", task="halfcheetah_uni").hyperparameters == DCRLConfig()


@pytest.mark.slow
def test_a_run_stores_what_its_preset_resolved_to(tmp_path):
    small = ("--critic-steps", "20", "--policy-steps", "5", "--quiet", "--output", str(tmp_path), *ARCHIVE)
    evaluations = str(presets.FAST_POSITION.ga_offspring * 4)
    from dcrl.cli.main import command

    assert command(["train", "point_omni", "--preset", "fast", "--evaluations", evaluations, *small]) == 0
    stored = json.loads((tmp_path / "point_omni" / "dcrl_me" / "seed-0" / "config.json").read_text())
    expected = dataclasses.asdict(presets.FAST_POSITION)
    assert stored["hyperparameters"]["ga_offspring"] == expected["ga_offspring"]
    assert stored["hyperparameters"]["td3"] == json.loads(json.dumps(expected["td3"] | {"critic_steps": 20}))
    assert "preset" not in stored


def test_python_takes_the_same_presets(tmp_path):
    with pytest.raises(ValueError, match="unknown preset 'slow'; choose one of quick, fast, paper"):
        dcrl.train("point_omni", preset="slow", output=tmp_path)
    with pytest.raises(ValueError, match="the preset fast is a configuration of dcrl_me, got the algorithm me"):
        dcrl.train("point_omni", "me", preset="fast", output=tmp_path)
    assert not list(tmp_path.iterdir())
