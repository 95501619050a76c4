"""The repository's own results: complete, from one commit per task, without a machine's paths, and all of them read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from dcrl.analysis.collection import collect
from dcrl.analysis.report import report
from dcrl.runs.metrics import budget_used, read_metrics

RESULTS = Path(__file__).parents[2] / "results"
RUNS = sorted(path.parent for path in RESULTS.glob("*/*/seed-*/config.json"))


def read(run: Path, name: str) -> dict:
    return json.loads((run / name).read_text())


def test_every_run_used_its_budget_up_and_says_what_made_it():
    assert RUNS
    for run in RUNS:
        config, manifest = read(run, "config.json"), read(run, "manifest.json")
        assert run == RESULTS / config["task"] / config["algorithm"] / f"seed-{config['seed']}"
        assert budget_used(read_metrics(run / "metrics.csv")["evaluations"], config["evaluations"])
        assert manifest["command"][:2] == ["dcrl", "train"]
        assert not any(word.startswith("/") for word in manifest["command"])
        assert (run / "map.png").stat().st_size < 100_000


def test_the_runs_of_a_task_come_from_one_commit():
    commits: dict[str, set[str]] = {}
    for run in RUNS:
        commits.setdefault(run.parents[1].name, set()).add(read(run, "manifest.json")["commit"])
    assert all(len(found) == 1 and not next(iter(found)).endswith("+") for found in commits.values()), commits


def test_timed_runs_name_a_commit_and_no_machine():
    runs = sorted((RESULTS / "fast").rglob("*.json"))
    assert runs
    for run in runs:
        machine = read(run.parent, run.name)["machine"]
        assert machine["command"][0] in ("benchmarks/timed_run.py", "dcrl")
        assert not any(word.startswith("/") for word in machine["command"]), run
        assert "host" not in machine, run
        assert not machine["commit"].endswith("+"), run


def test_timed_runs_with_the_papers_settings_are_those_of_the_study_on_the_same_processor():
    compared = 0
    for path in (RESULTS / "fast").rglob("*.json"):
        found = read(path.parent, path.name)
        config = found["configuration"]
        run = RESULTS / config["task"] / config["algorithm"] / f"seed-{config['seed']}"
        if path.stem.partition("-")[0] not in ("paper", "me", "pga_me") or not run.exists():
            continue
        if read(run, "manifest.json")["processor"] == found["machine"]["processor"]:
            scores = read_metrics(run / "metrics.csv")["qd_score"].tolist()
            both = min(len(scores), len(found["rows"]))
            assert [row["qd_score"] for row in found["rows"][:both]] == scores[:both], path
            compared += 1
    assert compared


def test_they_are_all_read():
    assert len(collect([RESULTS]).records) == len(RUNS)


def test_a_report_is_made_from_these_files_alone(tmp_path: Path, unrendered):
    made = report([RESULTS], tmp_path)
    page = made.page.read_text()
    assert "Stored pictures of maps" in page  # the archives are not here
    with (tmp_path / "figures" / "final_runs.csv").open(newline="") as file:
        values = {(row["task"], row["series"], row["seed"]) for row in csv.DictReader(file)}
    assert values == {(run.parts[-3], run.parts[-2], run.name.removeprefix("seed-")) for run in RUNS}


def test_the_tables_of_the_documentation_are_those_of_the_results():
    import results_page

    pages = results_page.pages()
    assert results_page.DOCS / "results.md" in pages
    for page in pages:
        assert page.read_text().count("<!-- results:") == page.read_text().count("<!-- end of results -->"), page.name
        assert page.read_text() == results_page.fill(page.read_text()), (
            f"{page.name} quotes other results; run python benchmarks/results_page.py"
        )
