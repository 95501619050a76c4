"""`dcrl evaluate` of several runs: in this process or as jobs of a backend, without what is complete."""

from __future__ import annotations

import json
import shutil

import pytest

from dcrl.cli.main import command


@pytest.fixture
def pair(trained, tmp_path):
    """A directory with two runs."""
    for name in ("one", "two"):
        shutil.copytree(trained, tmp_path / "runs" / name)
    return tmp_path / "runs"


def test_a_directory_of_runs_is_evaluated_without_what_is_complete(pair, said):
    assert said(pair / "one", "--repeats", 1, "--no-actor", "--workers", "local:2")[0] == 0  # the same, elsewhere
    code, text, error = said(pair, "--repeats", 1, "--no-actor")
    assert (code, error) == (0, "")
    assert f"[1/2] {pair / 'one'}: complete" in text
    assert f"[2/2] {pair / 'two'}\n" in text
    totals = [(pair / name / "reproducibility" / "totals.json").read_bytes() for name in ("one", "two")]
    assert totals[0] == totals[1]
    code, text, _ = said(pair / "one", pair / "two", pair, "--repeats", 1, "--no-actor", "--json")
    found = json.loads(text)
    assert (code, [each["output"] for each in found]) == (
        0,
        [str(pair / n / "reproducibility") for n in ("one", "two")],
    )
    assert found[0] == json.loads(totals[0]) | {"output": found[0]["output"]}


def test_runs_are_jobs_of_a_backend_and_a_refused_one_does_not_stop_the_others(pair, capfd):
    (pair / "one" / "reproducibility").write_text("in the way")
    arguments = ["evaluate", str(pair), "--repeats", "1", "--no-actor"]
    assert command([*arguments, "--backend", "local", "--at-once", "2"]) == 1
    text = capfd.readouterr().out
    assert f"failed: {pair / 'one'}: dcrl: cannot write to {pair / 'one' / 'reproducibility'}" in text
    assert (pair / "two" / "reproducibility" / "totals.json").is_file()
    assert command(arguments) == 1
    text = capfd.readouterr().out
    assert f"[2/2] {pair / 'two'}: complete" in text
    assert f"failed: {pair / 'one'}: cannot write to" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--output", "elsewhere"), "--output is for one run"),
        (("--backend", "local", "--json"), "--json and --output cannot be combined with --backend"),
        (("--address", "auto"), "--address belongs to --backend ray"),
        (("--workers", "ray", "--backend", "local"), "--workers ray cannot be combined with --backend"),
    ],
)
def test_what_cannot_be_combined_with_several_runs_is_one_sentence(pair, said, arguments, problem):
    code, text, error = said(pair, *arguments)
    assert (code, text, error.count("\n")) == (2, "", 1)
    assert problem in error


def test_a_directory_without_runs_is_refused(said, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, error = said(tmp_path / "empty")
    assert (code, "there is no run at or below" in error) == (2, True)
