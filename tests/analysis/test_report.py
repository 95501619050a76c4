"""`dcrl report` through the command: all files, the page in a real browser, few runs and odd ones."""

from __future__ import annotations

import csv
import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from dcrl.analysis.collection import collect
from dcrl.analysis.grids import look, short
from dcrl.analysis.options import Options
from dcrl.analysis.re_evaluation import re_evaluated
from dcrl.analysis.report import report
from dcrl.analysis.sections import median_run
from dcrl.cli.main import command
from support.random_runs import save_run
from support.synthetic import write_evaluation, write_run

ALGORITHMS = {"dcrl_me": 900.0, "pga_me": 700.0, "me_es": 300.0, "ablation_ai": 800.0}
FIGURES = (
    *("curves", "curves_time", "ablation", "final", "tests", "reproducibility", "reproducibility_tests"),
    *("across_iqm", "across_profiles", "across_improvement_dcrl_me"),
    *("archives_point_omni", "archives_ant_uni", "improvement", "added"),
)

pytestmark = pytest.mark.usefixtures("unrendered")  # but for the report that `made` makes, before each test


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Two tasks, four algorithms, three seeds, with archives, and an evaluation of all runs of two of them."""
    root = tmp_path_factory.mktemp("report")
    archives = {task: save_run(root / "archives" / task, task) for task in ("point_omni", "ant_uni")}
    for task, archive in archives.items():
        for algorithm, final in ALGORITHMS.items():
            for seed in range(3):
                path = write_run(root / "runs", task, algorithm, seed, final + 10 * seed)
                shutil.copy(archive / "archive.safetensors", path)
                if algorithm in ("dcrl_me", "pga_me"):
                    write_evaluation(path, final - seed, actor=algorithm == "dcrl_me")
    return root / "runs"


@pytest.fixture(scope="module")
def made(runs) -> Path:
    folder = runs.parent / "report"
    with redirect_stdout(io.StringIO()) as printed:
        assert command(["report", str(runs), "--output", str(folder)]) == 0
    assert f"24 runs, 18 tests; open {folder / 'index.html'}" in printed.getvalue()
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_a_picture_a_pdf_and_a_table(made, name):
    path = made / "figures" / name
    picture = matplotlib.image.imread(path.with_suffix(".png"))
    assert picture.shape[1] >= 700
    assert picture.std() > 0.02  # not blank
    assert path.with_suffix(".pdf").read_bytes()[:5] == b"%PDF-"
    dark = matplotlib.image.imread(path.with_name(f"{name}-dark.png"))
    assert dark.shape == picture.shape
    assert np.median(dark[..., :3]) < 0.5 < np.median(picture[..., :3])
    assert len(rows(path.with_suffix(".csv"))) > 1


@pytest.mark.parametrize("seeds", [3, 2])
def test_tasks_with_too_few_runs_are_left_out_across_tasks_if_two_have_enough(seeds, tmp_path):
    for task, count in (("point_omni", 3), ("ant_uni", seeds), ("walker2d_uni", 1)):
        for algorithm in ("dcrl_me", "me") if count > 1 else ("dcrl_me",):
            for seed in range(count):
                write_run(tmp_path / "runs", task, algorithm, seed, 900.0 + seed)
    page = report([tmp_path / "runs"], tmp_path / "report").page.read_text()
    found = rows(tmp_path / "report" / "figures" / "across_iqm.csv")
    left_out = "No algorithm has three runs on walker2d_uni; it is left out of the statistics across tasks." in page
    assert left_out == (seeds == 3)  # else only one task would remain
    assert {row["series"] for row in found} == ({"dcrl_me", "me"} if seeds == 3 else {"dcrl_me"})


def test_the_tables_have_the_known_numbers(made):
    final = {(row["task"], row["metric"], row["series"]): row for row in rows(made / "figures" / "final.csv")}
    own = final["ant_uni", "qd_score", "dcrl_me"]
    assert [float(own[name]) for name in ("runs", "median", "lower_quartile", "upper_quartile")] == [3, 910, 905, 915]
    assert float(own["interquartile_mean"]) == pytest.approx(910)
    assert 900 <= float(own["median_ci_low"]) <= 910 <= float(own["median_ci_high"]) <= 920
    tests = rows(made / "figures" / "tests.csv")
    assert len(tests) == 2 * 3 * 3
    assert {row["reference"] for row in tests} == {"dcrl_me"}
    assert {float(row["p"]) for row in tests} == {0.1}
    assert {float(row["p_holm"]) for row in tests} == {1.0}
    assert {float(row["share_of_pairs_better"]) for row in tests} == {1.0}
    gained = {(r["series"], r["operator"]): float(r["improvement"]) for r in rows(made / "figures" / "operators.csv")}
    assert gained["pga_me", "actor"] == pytest.approx(720 / 3)
    last = [r for r in rows(made / "figures" / "curves.csv") if (r["task"], r["quantity"]) == ("ant_uni", "qd_score")]
    assert {r["series"] for r in last} == {"dcrl_me", "pga_me", "me_es"}
    again = rows(made / "figures" / "reproducibility_runs.csv")
    assert {row["series"] for row in again} == {"dcrl_me", "dcrl_me actor", "pga_me"}


def test_the_map_is_of_the_run_nearest_to_the_median(made, tmp_path):
    assert {row["series"] for row in rows(made / "figures" / "archives_ant_uni.csv")} == set(ALGORITHMS)
    for seed, final in enumerate((0.0, 1000.0, 9000.0)):
        write_run(tmp_path, "point_omni", "me", seed, final)
    assert median_run(collect([tmp_path]).records, 1000).seed == 1


def test_a_series_without_finished_runs_has_its_map_and_evaluation(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0, budget=5000)
    write_evaluation(path, 10.0, actor=False)
    shutil.copy(save_run(tmp_path / "archive", "point_omni") / "archive.safetensors", path)
    made = report([tmp_path], tmp_path / "report", Options(evaluations=5000))
    assert made.values == ()
    assert len(rows(tmp_path / "report" / "figures" / "archives_point_omni.csv")) > 1
    assert len(rows(tmp_path / "report" / "figures" / "reproducibility.csv")) == 4


def test_a_task_without_the_reference_is_named(tmp_path):
    for algorithm in ("dcrl_me", "me"):
        write_run(tmp_path, "point_omni", algorithm, 0, 900.0)
    write_run(tmp_path, "ant_omni", "me", 0, 900.0)
    made = report([tmp_path], tmp_path / "report")
    assert {test.task for test in made.tests} == {"point_omni"}
    assert "ant_omni: there is no finished run of dcrl_me to test the others against." in made.remarks


def test_a_second_report_leaves_nothing_of_the_first(tmp_path):
    write_run(tmp_path / "both", "point_omni", "me", 0, 900.0)
    write_run(tmp_path / "both", "point_omni", "ablation_ai", 0, 900.0)
    report([tmp_path / "both"], tmp_path / "report")
    (tmp_path / "report" / "figures" / "mine.png").write_bytes(b"not the report's")
    report([tmp_path / "both" / "point_omni" / "me"], tmp_path / "report")
    there = {path.name for path in (tmp_path / "report" / "figures").iterdir()}
    assert "mine.png" in there
    assert not {"ablation.png", "ablation.pdf", "ablation.csv", "tests.png"} & there


def test_the_commands_repeat_the_report(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    write_evaluation(path, 10.0, actor=False)
    options = Options(evaluations=500, references=("me",), threshold=450, at_seconds=(10,))
    made = report([tmp_path], tmp_path / "report", options)
    text = made.page.read_text()
    assert "dcrl train point_omni --algorithm me --seed 0 --evaluations 1000" in text
    assert f"dcrl evaluate {path} --repeats 8" in text
    flags = "--evaluations 500 --reference me --threshold 450 --at-seconds 10"
    assert f"dcrl report {tmp_path} --output {tmp_path / 'report'} {flags}" in text


@pytest.mark.parametrize(("value", "text"), [(0.18, "0.18"), (0, "0"), (999, "999"), (1500, "1.5 k"), (2e6, "2 M")])
def test_numbers_on_axes_are_short_and_have_no_units(value, text):
    assert short(value).replace("\N{THIN SPACE}", " ") == text


def test_the_page_reads_like_a_results_section(made):
    text = (made / "index.html").read_text()
    for said in (
        "DCRL, PGA, ME-ES and Ablation AI on ant_uni and point_omni: 24 runs",
        "QD score: DCRL 910, Ablation AI 810, PGA 710, ME-ES 310.",
        "18 tests, Holm-Bonferroni corrected as one family",
        "With 3 runs per side, the smallest possible p value is 0.1",
        "It takes 6 runs per side",
        "dcrl train ant_uni --algorithm dcrl_me --seed 0",
        "Not re-evaluated: 12 of 24 runs",
    ):
        assert said in text, said


def test_one_seed_is_reported_with_what_it_cannot_say(tmp_path):
    for algorithm in ("dcrl_me", "me"):
        write_run(tmp_path / "runs", "point_omni", algorithm, 0, ALGORITHMS.get(algorithm, 100.0))
    made = report([tmp_path / "runs"], tmp_path / "report")
    text = made.page.read_text()
    assert "With 1 run per side, the smallest possible p value is 1" in text
    assert "No run has been re-evaluated" in text
    assert rows(tmp_path / "report" / "figures" / "final.csv")[0]["median_ci_low"] == ""
    assert not (tmp_path / "report" / "figures" / "ablation.png").exists()


def test_unfinished_runs_are_drawn_and_not_tested(tmp_path):
    write_run(tmp_path, "point_omni", "dcrl_me", 0, 900.0, budget=1000)
    path = write_run(tmp_path, "point_omni", "me", 0, 100.0, generations=4, budget=1000)
    (path / "manifest.json").unlink()
    made = report([tmp_path], tmp_path / "report")
    assert made.tests == ()
    assert any("me, seed 0, is unfinished (500 of 1,000 evaluations)" in remark for remark in made.remarks)
    assert {row["series"] for row in rows(tmp_path / "report" / "figures" / "curves.csv")} == {"dcrl_me", "me"}
    assert {value.series for value in made.values} == {"dcrl_me"}
    assert "dcrl train point_omni --algorithm me --seed 0 --evaluations 1000" in made.page.read_text()


def test_a_damaged_archive_or_evaluation_costs_only_itself(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0)
    (path / "archive.safetensors").write_bytes(b"nonsense")
    write_evaluation(path, 10.0, actor=False)
    (path / "reproducibility" / "totals.json").write_text('{"repeats": 3}')
    made = report([tmp_path], tmp_path / "report")
    text = made.page.read_text()
    assert "There is no map of me on point_omni: cannot read" in text
    assert "totals.json cannot be used" in text
    assert len(made.values) == 3


def test_an_evaluation_of_an_older_archive_is_said_to_be_one(tmp_path):
    path = write_run(tmp_path, "point_omni", "me", 0, 900.0, generations=19)
    write_evaluation(path, 10.0, actor=False)
    (record,) = collect([path]).records
    found, remarks = re_evaluated([record])
    assert [value.value for value in found] == [10.0, 0.25, 0.1, 5.0]
    assert remarks == [f"{path} was re-evaluated after 1,000 evaluations and has since continued to 2,000."]


def test_programs_get_json(runs, tmp_path, capsys):
    assert command(["report", str(runs / "point_omni" / "me_es"), "--output", str(tmp_path / "one"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tests"] == []
    assert sorted(value["value"] for value in found["values"] if value["metric"] == "qd_score") == [300, 310, 320]


def test_bad_input_is_one_sentence(runs, made, tmp_path, capsys):
    def refused(*arguments: str | Path) -> str:
        assert command(["report", *map(str, arguments)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        return lines[0]

    away = ("--output", tmp_path / "r")
    assert "no usable run at or below" in refused(tmp_path, *away)
    assert "there is no directory" in refused(tmp_path / "x", *away)
    assert "--overwrite replaces it" in refused(runs, "--output", made)
    assert "must be one of dcrl_me, pga_me" in refused(runs, *away, "--reference", "sac")
    assert "at least 1 evaluation" in refused(runs, *away, "--evaluations", "0")
    assert "positive numbers, got 10 -1" in refused(runs, *away, "--at-seconds", "10", "-1")
    assert "a finite QD score, got nan" in refused(runs, *away, "--threshold", "nan")
    assert "can be compared after 100 evaluations or more" in refused(runs, *away, "--evaluations", "1")
    (tmp_path / "file").write_text("")
    assert "is a file" in refused(runs, "--output", tmp_path / "file")
    assert "cannot write to" in refused(runs, "--output", tmp_path / "file" / "below")


def test_colours_are_the_algorithms_own_and_variants_differ():
    among = ["dcrl_me", "dcrl_me actor", "me", "dcrl_me (length_scale=0.2)", "own"]
    assert look("me", among) == look("me", ["me"])
    assert look("dcrl_me actor", among) == look("dcrl_me", among)
    assert len({look(name, among) for name in among}) == 4
