"""Reports of copied and odd runs: without archives, with odd names, with damaged files; each costs only itself."""

from __future__ import annotations

import csv
import json
import shutil

import matplotlib.image
import numpy as np
import pytest

from dcrl.analysis.collection import collect
from dcrl.analysis.options import Options
from dcrl.analysis.re_evaluation import cell_tables, re_evaluated
from dcrl.analysis.report import report
from dcrl.analysis.writer import file_name
from support.random_runs import save_run
from support.synthetic import write_evaluation, write_run

pytestmark = pytest.mark.usefixtures("unrendered")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def light(tmp_path):
    """Two algorithms, two seeds, without archives; one run holds a picture of its map, all an evaluation."""
    for algorithm, distance in (("dcrl_me", 0.1), ("me", 0.2)):
        for seed in range(2):
            path = write_run(tmp_path / "results", "point_omni", algorithm, seed, 900.0 + seed)
            write_evaluation(path, 100.0 + seed, actor=False, distance=distance + 0.01 * seed)
    matplotlib.image.imsave(tmp_path / "results" / "point_omni" / "me" / "seed-0" / "map.png", np.ones((9, 9, 3)))
    return tmp_path / "results"


def test_a_report_of_light_files_lacks_only_maps(light, tmp_path):
    made = report([light], tmp_path / "report")
    (remark,) = made.remarks
    assert remark == (
        "4 of 4 runs have no archive.safetensors, so there is no map to draw from them; 1 stored picture of a map is "
        "shown instead; everything else is complete."
    )
    text = made.page.read_text()
    assert "ME, seed 0</figcaption>" in text
    assert len(made.tests) == 3
    assert len(rows(tmp_path / "report" / "figures" / "reproducibility_runs.csv")) == 4 * 4


def test_the_reference_with_the_lower_distance_is_better(light, tmp_path):
    report([light], tmp_path / "report")
    tests = rows(tmp_path / "report" / "figures" / "reproducibility_tests.csv")
    (distance,) = [row for row in tests if row["metric"] == "expected_distance"]
    assert distance["direction"] == "lower is better"
    assert (distance["share_of_pairs_greater"], distance["share_of_pairs_better"]) == ("0.0", "1.0")


def test_per_cell_tables_are_read_without_an_archive(light):
    path = light / "point_omni" / "me" / "seed-1" / "reproducibility"
    (path / "elites.csv").write_text(
        "cell,stored_fitness,fitness_mean,fitness_deviation,landing\n3,10,6,1,3\n5,20,12,3,4\n7,30,nan,nan,-1\n"
    )
    (path / "actor.csv").write_text("cell,fitness_mean\n")
    found, remarks = cell_tables(collect([light]).records)
    (cells,) = found
    assert (cells.cells, cells.stored_fitness, cells.mean_fitness, cells.fitness_deviation) == (3, 15, 9, 2)
    assert cells.stay_in_cell == pytest.approx(1 / 3)
    assert "actor.csv cannot be used: it has no rows, or no column" in remarks[0]


def test_complete_runs_are_no_warning(tmp_path):
    path = write_run(tmp_path / "runs", "point_omni", "me", 0, 900.0)
    shutil.copy(save_run(tmp_path / "archive", "point_omni") / "archive.safetensors", path)
    made = report([tmp_path / "runs"], tmp_path / "report")
    assert made.remarks == ()
    assert "<p>All runs are complete and comparable" in made.page.read_text()
    assert '<ul class="remarks">' not in made.page.read_text()


def test_a_task_with_a_slash_in_its_name_is_reported_like_others(tmp_path):
    archive = save_run(tmp_path / "archive", "point_omni") / "archive.safetensors"
    for name in ("../../odd/Task-v0", "_.._odd_Task-v0", "point_omni"):
        folder = str(len(name))
        path = write_run(tmp_path / "runs", "point_omni", "me", 0, 900.0, folder=folder, changes={"task": name})
        shutil.copy(archive, path)
    made = report([tmp_path / "runs"], tmp_path / "report")
    assert made.runs.tasks == ("point_omni", "../../odd/Task-v0", "_.._odd_Task-v0")
    assert {path.parent for path in tmp_path.rglob("*.png")} == {tmp_path / "report" / "figures"}
    maps = {path.stem for path in tmp_path.rglob("archives_*.pdf")}
    assert maps == {"archives_point_omni", "archives_.._.._odd_Task-v0", "archives__.._odd_Task-v0"}


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b", "a_b"),
        ("..", "unnamed"),
        ("dcrl_me (x=0.2)", "dcrl_me_x=0.2"),
        ("é" * 300, "unnamed"),
        ("a" * 300, "a" * 80),
    ],
)
def test_names_are_made_safe_for_files(name, safe):
    assert file_name(name) == safe


@pytest.mark.parametrize("name", ["config.json", "metrics.csv"])
def test_a_huge_file_costs_only_its_run(name, tmp_path):
    write_run(tmp_path / "runs", "point_omni", "me", 0, 900.0)
    odd = write_run(tmp_path / "runs", "point_omni", "me", 1, 900.0)
    with open(odd / name, "ab") as file:
        file.truncate(127 * 10**6)
    runs = collect([tmp_path / "runs"])
    assert [record.seed for record in runs.records] == [0]
    assert f"{odd} is left out: cannot read {odd / name}: it has 127" in runs.remarks[0]


@pytest.mark.parametrize("content", ['{"evaluations": 1e999}', "[1]", '{"repeats": 1, "elites": 3}', "{" * 99999])
def test_damaged_totals_cost_only_themselves(content, light):
    (light / "point_omni" / "me" / "seed-0" / "reproducibility" / "totals.json").write_text(content)
    found, (remark,) = re_evaluated(collect([light]).records)
    assert "seed-0/reproducibility/totals.json cannot be used" in remark
    assert len(found) == 3 * 4


def test_each_reference_has_a_family_of_its_own(tmp_path):
    for place, algorithm in enumerate(("dcrl_me", "dcg_me", "me")):
        for seed in range(2):
            write_run(tmp_path / "runs", "point_omni", algorithm, seed, 900.0 - 100 * place + seed)
    made = report([tmp_path / "runs"], tmp_path / "report", Options(references=("dcrl_me", "dcg_me")))
    figures = tmp_path / "report" / "figures"
    for name, reference in (("tests", "dcrl_me"), ("tests_dcg_me", "dcg_me")):
        tests = rows(figures / f"{name}.csv")
        assert {row["reference"] for row in tests} == {reference}
        assert len(tests) == 6
        assert {float(row["p_holm"]) for row in tests} == {1.0}
        assert len(rows(figures / f"{name}_power.csv")) == 6
    assert len(made.tests) == 12


def test_times_are_listed_by_run_and_by_algorithm(tmp_path):
    for algorithm, seconds in (("dcrl_me", 20.0), ("me", 5.0)):
        for seed in range(3):
            write_run(tmp_path / "runs", "point_omni", algorithm, seed, 900.0 + 9 * seed, seconds=seconds)
    made = report([tmp_path / "runs"], tmp_path / "report", Options(at_seconds=(45.0,)))
    reached = rows(tmp_path / "report" / "figures" / "time_to_threshold.csv")
    assert {row["threshold"] for row in reached} == {"909.0"}
    assert [(row["series"], row["seconds"], row["reached"]) for row in reached[2:4]] == [
        ("dcrl_me", "180.0", "1"),
        ("me", "45.0", "0"),
    ]
    text = made.page.read_text()
    assert "<td>ME</td><td>2 of 3</td><td>45</td>" in text
    assert "<td>DCRL</td><td>2 of 3</td><td>180</td>" in text
    assert "<th>QD score at 45 s</th>" in text
    scores = rows(tmp_path / "report" / "figures" / "qd_score_at_seconds.csv")
    assert [float(row["qd_score"]) for row in scores] == pytest.approx([200, 202, 204, 900, 909, 918])
    assert json.loads((tmp_path / "report" / "remarks.json").read_text()) == list(made.remarks)
