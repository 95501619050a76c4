"""Studies as files: what they ask for, what the command line replaces, and the previews of those that are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.cli.sweep_plan import plan
from dcrl.sweeps.cost import cost
from dcrl.sweeps.study import parse_seeds, read, shipped

TEXT = """
tasks = ["point_omni", "ant_uni"]
algorithms = ["dcrl_me", "me"]
seeds = "0-1"
evaluations = 4096
output = "OUTPUT"

[flags]
hidden = [16, 16]

[task.ant_uni]
evaluations = 512

[algorithm.me]
flags = { ga-offspring = 128, hidden = [8] }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(TEXT.replace("OUTPUT", str(tmp_path / "runs")))
    return path


def test_flags_and_budgets_hold_for_all_for_a_task_or_for_an_algorithm(study: Path) -> None:
    found = plan([str(study)])
    settings = {(job.config.task, job.config.algorithm, job.config.seed): job.config for job in found.jobs}
    assert len(settings) == 8
    assert settings["point_omni", "dcrl_me", 1].evaluations == 4096
    assert settings["ant_uni", "me", 0].evaluations == 512
    assert settings["ant_uni", "dcrl_me", 0].hidden == (16, 16)
    assert settings["ant_uni", "me", 0].hidden == (8,)
    assert settings["point_omni", "me", 0].hyperparameters.ga_offspring == 128
    assert found.output.name == "runs"
    replaced = plan([str(study)], chosen=["me"], seeds=["7"], evaluations=1024, output=Path("elsewhere"))
    assert [(job.config.seed, job.config.evaluations) for job in replaced.jobs] == [(7, 1024), (7, 1024)]
    assert replaced.output == Path("elsewhere")


def test_the_shipped_studies_are_found_from_anywhere_and_are_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped() == ("studies/paper.toml", "studies/small.toml")
    paper = read(Path("studies/paper.toml"))
    assert (len(paper.tasks), len(paper.algorithms or ()), len(paper.seeds or ())) == (7, 8, 20)
    assert paper.evaluations("ant_uni", "me") == 1_000_000
    small = plan(["studies/small.toml"])
    assert len(small.jobs) == 18
    assert cost(small.jobs, small.jobs).memory > 5 * 10**8  # with a replay buffer of a million transitions


def test_time_is_that_of_runs_that_were_measured(study: Path) -> None:
    found = plan([str(study)], chosen=["me"], evaluations=1000)
    run = found.jobs[0].order.run
    run.mkdir(parents=True)
    header = "generation,evaluations,wall_seconds,qd_score,coverage,max_fitness\n"
    (run / "metrics.csv").write_text(header + "0,100,10,1,0.1,1\n1,300,30,1,0.1,1\n")
    same = [job for job in found.jobs if job.config.task == "point_omni"]
    expected = cost(same, same)
    assert expected.measured
    assert expected.seconds == pytest.approx(0.1 * (700 + 1000))
    assert expected.longest == pytest.approx(0.1 * 1000)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("tasks = 3", "tasks is a list of names, got 3"),
        ("task = ['a']", "task is a table such as [task.NAME]"),
        ("sedes = '0'", "has an unknown field 'sedes'; did you mean seeds?"),
        ("tasks = ['a']\n[task.b]", "[task.b] is not one of its tasks: a"),
        ("[task.a]\nevaluations = 0", "evaluations is a number of at least 1, got 0"),
        ("preset = 'slow'", "preset is one of quick, fast, paper, got 'slow'"),
        ("output = 3", "output is the name of a directory, got 3"),
        ("tasks = [", "cannot read the study"),
    ],
)
def test_a_mistake_in_a_study_is_named(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "study.toml").write_text(content)
    with pytest.raises(ValueError, match=r"^[^\n]+$") as found:
        read(tmp_path / "study.toml")
    assert problem in str(found.value)


def test_seeds_are_numbers_and_ranges() -> None:
    assert parse_seeds(["0-2", "7", "9-9"]) == (0, 1, 2, 7, 9)
