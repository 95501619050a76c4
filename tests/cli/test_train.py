"""`dcrl train` end to end: the run directory and its files, refusals, Ctrl-C, and the same from Python."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from safetensors import safe_open

import dcrl
from dcrl.cli.display import faster
from dcrl.cli.main import command
from dcrl.cli.train import config_of, parse
from dcrl.runs.config import from_json, to_json
from support.commands import COMMAND
from support.small_runs import ARCHIVE, SAME, SMALL, rows, train

COLUMNS = [
    *("generation", "evaluations", "environment_steps", "wall_seconds", "qd_score", "coverage", "max_fitness"),
    *("invalid", "added_ga", "improvement_ga", "added_pg", "improvement_pg", "added_ai", "improvement_ai"),
    *("evaluations_ga", "evaluations_pg", "evaluations_ai", "similarity_pg", "similarity_ai"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, str]:
    """A small run's directory, and what it printed."""
    output = tmp_path_factory.mktemp("runs")
    done = train("point_omni", "--evaluations", 70, "--seed", 2, "--output", output, *SMALL)
    assert done.returncode == 0, done.stderr
    return output / "point_omni" / "dcrl_me" / "seed-2", done.stdout


def metadata(file: Path) -> dict:
    with safe_open(file, framework="numpy") as opened:
        return json.loads(opened.metadata()["dcrl"])


def assert_consistent(path: Path) -> None:
    """The metrics' last row describes the archive beside it, and improvements add up to it."""
    found, repertoire = rows(path), dcrl.load(path)
    score = float(found[0]["qd_score"])
    for number, row in enumerate(found):
        assert int(row["generation"]) == number
        score += sum(float(value) for name, value in row.items() if name.startswith("improvement_"))
        assert float(row["qd_score"]) == pytest.approx(score, abs=1e-6)
    last, elites = found[-1], repertoire.fitness[repertoire.occupied]
    assert float(last["qd_score"]) == pytest.approx(float(elites.sum(dtype=np.float64)), abs=1e-9)
    assert float(last["coverage"]) == repertoire.occupied.mean()
    assert float(last["max_fitness"]) == elites.max()
    described = metadata(path / "archive.safetensors")
    assert described["generation"] == int(last["generation"])
    assert described["evaluations"] == int(last["evaluations"])


def test_a_run_directory_explains_itself(trained):
    path, _ = trained
    assert {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()} == {
        *("config.json", "manifest.json", "metrics.csv", "archive.safetensors", "actor.safetensors"),
        ".lock",
        *("figures/archive.png", "figures/curves.png", "figures/improvement.png"),
        *(f"checkpoints/generation-0000000{g}.{kind}" for g in (0, 3) for kind in ("json", "safetensors")),
        *("checkpoints/replay-000000000000-000000000800.safetensors",),
        *("checkpoints/replay-000000000800-000000003200.safetensors",),
    }
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["packages"]["jax"]
    assert manifest["command"][1:4] == ["train", "point_omni", "--evaluations"]


def test_metrics_have_one_row_per_generation(trained):
    path, _ = trained
    found = rows(path)
    assert list(found[0]) == COLUMNS
    assert [int(row["evaluations"]) for row in found] == [16, 32, 48, 64]  # of the 70, in whole generations
    assert [int(row["environment_steps"]) for row in found] == [800, 1600, 2400, 3200]
    assert all(row["invalid"] == "0" for row in found)
    times = [float(row["wall_seconds"]) for row in found]
    assert 0 < times[0] <= times[1] <= times[2] <= times[3]
    assert all(float(found[0][column]) == 0 for column in COLUMNS[8:-2])
    assert [found[0][column] for column in COLUMNS[-2:]] == ["", ""]  # the random policies have no target
    assert all(0 < float(row[column]) <= 1 for row in found[1:] for column in COLUMNS[-2:])
    assert_consistent(path)


def test_the_configuration_is_complete(trained):
    path, _ = trained
    content = json.loads((path / "config.json").read_text())
    config = from_json(content)
    assert (config.task, config.algorithm, config.evaluations, config.seed) == ("point_omni", "dcrl_me", 70, 2)
    assert config.hidden == (16, 16)
    assert config.hyperparameters == SAME
    assert json.loads(json.dumps(to_json(config))) == content


def test_figures_are_pictures(trained):
    path, _ = trained
    for figure in (path / "figures").iterdir():
        height, width, _ = plt.imread(figure).shape
        assert 300 < height < 2000
        assert 600 < width < 3000


def test_what_is_printed(trained):
    path, printed = trained
    assert printed.startswith("dcrl_me on point_omni, seed 2\n")
    assert "5 - 16 - 16 - 2, 402 parameters" in printed
    assert "70 evaluations: 16 at the start, then 3 generations of 16 (8 ga + 4 pg + 4 ai)" in printed
    last = [line for line in printed.splitlines() if line.startswith("generation")][-1]
    assert last.startswith("generation 3/3  evaluations 64  QD score ")
    assert f"{float(rows(path)[-1]['coverage']):.1%}" in last
    assert str(path / "figures" / "archive.png") in printed
    assert "--preset fast" not in printed  # these are not the paper's settings


@pytest.mark.parametrize(
    ("flags", "named"),
    [([], True), (["--preset", "fast"], False), (["--preset", "fast", "--pg-target", "empty"], False)],
)
def test_the_preview_names_the_faster_preset_for_the_papers_settings(flags, named):
    assert bool(faster(config_of(parse(["walker2d_uni", *flags])))) == named


def test_python_and_the_command_find_the_same(trained, tmp_path):
    path, _ = trained
    seen = []
    found = dcrl.train(
        "point_omni",
        evaluations=70,
        seed=2,
        output=tmp_path,
        hidden=(16, 16),
        hyperparameters=SAME,
        on_report=lambda state, report: seen.append((state.generation, report.qd_score)),
    )
    own = tmp_path / "point_omni" / "dcrl_me" / "seed-2"
    python, shell = dcrl.load(own), dcrl.load(path)
    for name in ("centroids", "occupied", "fitness", "descriptor", "genotype", "actor_parameters"):
        np.testing.assert_array_equal(getattr(python, name), getattr(shell, name), err_msg=name)
    ours, theirs = rows(own), rows(path)
    for row in (*ours, *theirs):
        del row["wall_seconds"]
    assert ours == theirs
    assert seen == [(int(row["generation"]), float(row["qd_score"])) for row in ours]
    assert (own / "config.json").read_text() == (path / "config.json").read_text()
    observation = [0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_array_equal(found.policy_for([1, -2])(observation), shell.policy_for([1, -2])(observation))
    np.testing.assert_array_equal(found.actor([1, -2])(observation), shell.actor([1, -2])(observation))


def test_map_elites_trains_too_and_nothing_is_written_over_unasked(tmp_path, capsys):
    line = ["train", "point_omni", "--algorithm", "me", "--evaluations", "64", "--ga-offspring", "16", *ARCHIVE]
    line, path = [*line, "--output", str(tmp_path)], tmp_path / "point_omni" / "me" / "seed-0"
    assert command(line) == 0
    capsys.readouterr()
    assert not (path / "actor.safetensors").exists()
    assert list(rows(path)[0]) == [*COLUMNS[:8], "added_ga", "improvement_ga", "evaluations_ga"]
    assert len(rows(path)) == 4
    assert_consistent(path)

    archive = path / "archive.safetensors"
    before, elites = (archive.stat().st_mtime_ns, archive.read_bytes()), dcrl.load(path).genotype
    assert command(line) == 2
    refusal = capsys.readouterr().err
    assert f"already holds a run; `dcrl resume {path}` continues it, --overwrite replaces it" in refusal
    assert refusal.count("\n") == 1
    assert (archive.stat().st_mtime_ns, archive.read_bytes()) == before

    assert command([*line, "--overwrite", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert archive.stat().st_mtime_ns != before[0]
    np.testing.assert_array_equal(dcrl.load(path).genotype, elites)  # equal seeds, equal runs


def test_help_shows_the_flags_of_the_algorithm(capsys):
    texts = []
    for flags in (["--algorithm", "me"], []):
        with pytest.raises(SystemExit, match="0"):
            command(["train", *flags, "--help"])
        texts.append(capsys.readouterr().out)
    me, dcrl_me = texts
    for flag in ("--ga-offspring", "--iso-sigma", "--cells", "--evaluations"):
        assert flag in me
        assert flag in dcrl_me
    for flag in ("--pg-offspring", "--ai-offspring", "--critic-steps", "--policy-steps", "--injection"):
        assert flag not in me
        assert flag in dcrl_me


@pytest.mark.slow
@pytest.mark.data
def test_a_stopped_run_leaves_its_results_whole(tmp_path):
    line = [COMMAND, "train", "point_omni", "--preset", "paper", "--output", str(tmp_path), *SMALL]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            for said in process.stdout:
                if said.startswith("generation 3/"):
                    break
            process.send_signal(signal.SIGINT)
            rest, complaint = process.communicate(timeout=120)
        finally:
            process.kill()
    path = tmp_path / "point_omni" / "dcrl_me" / "seed-0"
    assert process.returncode == 130
    assert f"interrupted; the results so far are in {path}, and `" in rest
    assert f"dcrl resume {path}` continues the run" in rest
    assert "stopping after the current stage" in complaint
    assert "Traceback" not in complaint
    assert 4 <= len(rows(path)) < 1000
    assert_consistent(path)
    assert metadata(path / "actor.safetensors")["generation"] == len(rows(path)) - 1
    assert [file.name for file in path.rglob(".*")] == [".lock"]  # no temporary files


REFUSALS = {
    "no offspring": (("--ga-offspring", 0), "ga_offspring must be a whole number of at least 1, got 0"),
    "negative offspring": (("--pg-offspring", -4), "pg_offspring must be a whole number of at least 1, got -4"),
    "no samples": (("--batch-size", 0), "batch_size must be a whole number of at least 1, got 0"),
    "less than a batch": (("--evaluations", 255), "255 evaluations are fewer than one batch of 256"),
    "negative budget": (("--evaluations", -1), "-1 evaluations are fewer than one batch of 256"),
    "a word for a seed": (("--seed", "one"), "--seed: invalid literal for int() with base 10: 'one'"),
    "negative seed": (("--seed", -1), "the seed must be a whole number from 0 to 2^32 - 1, got -1"),
    "a preset of another algorithm": (
        ("--preset", "fast", "--algorithm", "me"),
        "the preset fast is a configuration of dcrl_me, got the algorithm me",
    ),
    "unknown preset": (("--preset", "papr"), "invalid choice 'papr' for argument '--preset'"),
    "unknown algorithm": (("--algorithm", "dcrl"), "there is no algorithm 'dcrl'"),
    "unknown flag": (("--evaluation", 512), "--evaluation"),
    "another algorithm's flag": (("--algorithm", "me", "--critic-steps", 20), "--critic-steps"),
    "half a delay": (("--critic-steps", 21), "critic_steps must be a multiple of actor_delay, got 21 and 2"),
    "fewer samples than cells": (("--cvt-samples", 1000), "cvt_samples must be at least cells, got 1000 and 1024"),
    "no threads": (("--threads", 0), "the number of threads must be at least 1, got 0"),
    "an empty layer": (("--hidden", 16, 0), "hidden needs at least one layer of 1 unit or more, got (16, 0)"),
    "an unknown simulator": (("--simulator", "brax"), "invalid choice 'brax' for argument '--simulator'"),
}


@pytest.mark.parametrize(("flags", "sentence"), REFUSALS.values(), ids=REFUSALS.keys())
def test_bad_input_is_refused_and_nothing_is_written(flags, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = command(["train", "point_omni", *map(str, flags)])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    printed, said = capsys.readouterr()
    assert sentence in " ".join(said.replace("│", " ").split())
    assert "Traceback" not in said
    assert printed == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", [".", "point_omni/dcrl_me", "point_omni/dcrl_me/seed-0"])
def test_a_file_in_the_way_of_the_output_is_refused(where, tmp_path, capsys):
    in_the_way = tmp_path / "runs" / where
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.write_text("mine")
    assert command(["train", "point_omni", "--output", str(tmp_path / "runs"), *SMALL, "--evaluations", "16"]) == 2
    refusal = capsys.readouterr().err
    assert refusal.startswith("dcrl: cannot write to ")
    assert "choose another --output" in refusal
    assert refusal.count("\n") == 1
    assert in_the_way.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [in_the_way]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"task": "point_omny"}, "there is no task 'point_omny'"),
        ({"algorithm": "mee"}, "there is no algorithm 'mee'"),
        ({"evaluations": 255}, "fewer than one batch of 256"),
        ({"seed": -1}, "the seed must be a whole number"),
        ({"simulator": "brax"}, "runs on mujoco or mjx, got simulator 'brax'"),
    ],
)
def test_python_refuses_bad_input_too(wrong, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        dcrl.train(**({"task": "point_omni", "output": tmp_path} | wrong))
    assert not list(tmp_path.iterdir())
