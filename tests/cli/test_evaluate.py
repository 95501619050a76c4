"""`dcrl evaluate`: what it writes, that it continues where it stopped, and what it refuses."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from dcrl import simulators
from dcrl.evaluation import files
from dcrl.evaluation.cost import estimate
from dcrl.evaluation.repeats import unplayed
from dcrl.evaluation.reproducibility import evaluate
from dcrl.repertoires.load import load
from dcrl.repertoires.save import save
from dcrl.runs.lock import Lock
from dcrl.tasks.point import point_omni
from support.commands import COMMAND, HEEDING_INTERRUPTS


def test_the_command_end_to_end(run, said):
    before = {path.name for path in run.iterdir()}
    code, text, error = said(run, "--repeats", 3)
    assert (code, error) == (0, "")
    repertoire = load(run)
    elites = int(repertoire.occupied.sum())
    assert f"{elites} elites and the actor on their {elites} cells, 3 repeats each" in text
    assert f"cost     {6 * elites} episodes, about " in text
    assert re.search(r"memory   about 0\.\d GiB at most", text)
    assert "3 of 3 repeats  100.0%" in text
    directory = run / "reproducibility"
    assert {path.name for path in run.iterdir()} - before == {"reproducibility"}
    pictures = ("corrected.png", "descriptor_error.png", "fitness_spread.png")
    assert {path.name for path in directory.iterdir()} == {
        ".lock",
        *("episodes.safetensors", "corrected.safetensors", "totals.json", "elites.csv", "actor.csv"),
        *pictures,
        *(f"actor_{name}" for name in pictures),
    }
    found = evaluate(repertoire, 3)
    again = files.read(run)
    assert again.elites_totals == found.elites_totals
    assert again.actor_totals == found.actor_totals
    totals = json.loads((directory / "totals.json").read_text())
    assert totals["elites"] == dataclasses.asdict(found.elites_totals)
    assert totals["evaluations"] == repertoire.evaluations
    assert totals["stored"]["qd_score"] == repertoire.archive.qd_score
    with open(directory / "elites.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cell"]) for row in rows] == found.elites.cell.tolist()
    np.testing.assert_array_equal([float(row["fitness_mean"]) for row in rows], found.elites.fitness_mean)
    np.testing.assert_array_equal([float(row["mean_d1"]) for row in rows], found.elites.descriptor_mean[:, 1])
    corrected = load(directory / "corrected.safetensors")
    assert corrected.archive.qd_score == found.elites_totals.corrected_qd_score
    for cell in np.flatnonzero(corrected.occupied):
        here = np.flatnonzero(found.elites.landing == cell)
        best = found.elites.cell[here[np.argmax(found.elites.fitness_mean[here])]]
        np.testing.assert_array_equal(corrected.genotype[cell], repertoire.genotype[best])

    written = (directory / "episodes.safetensors").stat().st_mtime_ns
    code, text, _ = said(run, "--repeats", 3, "--json")
    assert json.loads(text) == totals | {"output": str(directory)}  # nothing is played again
    assert (directory / "episodes.safetensors").stat().st_mtime_ns == written


def test_other_settings_do_not_mix_with_what_is_there(run, said):
    assert said(run, "--repeats", 1, "--no-actor")[0] == 0
    directory = run / "reproducibility"
    assert not (directory / "actor.csv").exists()
    kept = (directory / "episodes.safetensors").read_bytes()
    for arguments, problem in (
        (("--repeats", 1, "--no-actor", "--seed", 7), "seed was 0 and is now 7"),
        (("--repeats", 1), "contains other results (actor was False and is now True, another archive)"),
    ):
        code, out, error = said(run, *arguments)
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert problem in error
    assert (directory / "episodes.safetensors").read_bytes() == kept
    code, text, _ = said(run, "--repeats", 2, "--no-actor")
    assert code == 0
    assert "continues after" in text
    code, _, error = said(run, "--repeats", 1, "--no-actor")
    assert (code, "already contains 2 repeats, more than --repeats 1" in error) == (2, True)
    (directory / "own.png").touch()  # somebody else's, and left alone
    whole = bytearray((directory / "episodes.safetensors").read_bytes())
    whole[-9] ^= 1
    (directory / "episodes.safetensors").write_bytes(whole)
    code, out, error = said(run, "--repeats", 2, "--no-actor")
    assert (code, out) == (2, "")
    assert "is damaged" in error
    assert "--overwrite starts again" in error
    assert (directory / "totals.json").exists()
    assert said(run, "--repeats", 1, "--no-actor", "--overwrite")[0] == 0
    assert (directory / "own.png").exists()


@pytest.mark.slow
@pytest.mark.data
def test_stopped_and_called_again_is_as_if_never_stopped(run, said, tmp_path):
    line = (run, "--no-actor", "--repeats", 110)
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, "evaluate", *map(str, line)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for text in process.stdout:
            if " repeats  " in text:
                break
        process.send_signal(signal.SIGINT)
        rest, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    assert re.search(r"stopped; [\d,]+ of [\d,]+ episodes are saved in .*, and the same command continues", rest)
    assert "Traceback" not in error
    part, _ = files.read_episodes(run / "reproducibility")
    assert 0 < part.done < part.total
    assert not (run / "reproducibility" / "totals.json").exists()
    assert files.read(run).elites_totals.repeats == part.whole  # what there is can be read already
    shutil.copytree(run, tmp_path / "copy")
    code, text, _ = said(tmp_path / "copy", "--no-actor", "--repeats", 1, "--seed", 5)
    assert code == 0
    assert "starting again: " in text
    assert "(seed was 0 and is now 5)" in text
    code, text, _ = said(*line)
    assert code == 0
    assert f"continues after {part.done:,} episodes" in text
    assert said(*line, "--output", tmp_path / "other")[0] == 0
    for name in ("episodes.safetensors", "totals.json", "elites.csv", "corrected.safetensors"):
        assert (tmp_path / "other" / name).read_bytes() == (run / "reproducibility" / name).read_bytes()


def test_files_and_runs_in_progress_are_evaluated_as_they_are(run, said, tmp_path):
    save(tmp_path / "elites.safetensors", load(run))
    code, _, error = said(tmp_path / "elites.safetensors", "--repeats", 1)
    assert (code, error) == (0, "")
    assert files.read(tmp_path / "elites-reproducibility").actor is None
    training = Lock(run)
    code, text, error = said(run, "--repeats", 1)
    training.release()
    assert (code, error) == (0, "")
    assert f"after {load(run).evaluations:,} evaluations" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("nowhere",), "there is no repertoire at nowhere"),
        (("RUN", "--repeats", 0), "the number of repeats must be at least 1, got 0"),
        (("RUN", "--seed", -1), "the seed must be a whole number from 0 to 2^32 - 1, got -1"),
        (("RUN", "--simulator", "bullet"), "task point_omni runs on mujoco or mjx, got simulator 'bullet'"),
        (("RUN", "--threads", 0), "the number of threads must be at least 1, got 0"),
        (("RUN", "--output", "RUN/config.json"), "cannot write to"),
    ],
)
def test_bad_input_is_one_sentence(trained, said, arguments, problem):
    code, out, error = said(*(str(each).replace("RUN", str(trained)) for each in arguments))
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert problem in error
    assert not (trained / "reproducibility").exists()


def test_an_archive_of_another_task_or_without_elites_is_refused(trained, said, tmp_path):
    repertoire = load(trained)
    save(tmp_path / "wrong.safetensors", dataclasses.replace(repertoire, task="ant_omni"))
    code, _, error = said(tmp_path / "wrong.safetensors")
    assert (code, "does not match the installed task ant_omni" in error) == (2, True)
    nothing = dataclasses.replace(
        repertoire,
        occupied=np.zeros_like(repertoire.occupied),
        fitness=np.full_like(repertoire.fitness, np.nan),
        descriptor=np.full_like(repertoire.descriptor, np.nan),
        genotype=np.zeros_like(repertoire.genotype),
    )
    save(tmp_path / "empty.safetensors", nothing)
    code, _, error = said(tmp_path / "empty.safetensors")
    assert (code, "the repertoire is empty" in error) == (2, True)


def test_the_cost_is_that_of_the_episodes_left(trained):
    repertoire = load(trained)
    fresh = unplayed(repertoire, 100, actor=True)
    with simulators.make(point_omni, "mujoco", 1) as simulator:
        cost = estimate(repertoire, fresh, simulator, 0)
        rest = estimate(repertoire, dataclasses.replace(fresh, done=fresh.total // 2), simulator, 0)
    assert cost.episodes == fresh.total
    assert cost.steps == fresh.total * point_omni.horizon  # the point's episodes all last
    assert cost.seconds > 0
    assert rest.steps == cost.steps / 2
    assert rest.memory == cost.memory
