"""`dcrl tasks` and `dcrl algorithms`: whole numbers at every width, and JSON for programs."""

from __future__ import annotations

import json

import pytest

from dcrl.algorithms import registry as algorithms
from dcrl.cli import output
from dcrl.cli.main import command
from dcrl.networks.policies import policy_layers
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni

NUMBERS = {"obs": "247", "actions": "17", "steps": "1000", "period": "0.015 s", "parameters": "50,449"}  # humanoid_omni


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        (24, {"summary", "robot", "descriptor", "parameters", "period", "actions", "obs"}),
        (40, {"summary", "robot", "descriptor", "parameters", "period"}),
        (80, {"summary", "robot"}),
        (200, set()),
    ],
)
def test_a_table_is_as_wide_as_the_terminal_and_cuts_no_number(columns, dropped, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = printed(capsys, "tasks")
    table, _, rest = text.partition("Policies have")
    lines = table.splitlines()
    assert max(map(len, lines)) <= columns
    (heading,) = (line for line in lines if line.startswith(" task "))
    shown = set(heading.split())
    assert {"robot", *NUMBERS, "descriptor", "summary"} - shown == dropped
    (row,) = (line for line in lines if line.startswith(" humanoid_omni "))
    assert all((number in row) == (name in shown) for name, number in NUMBERS.items())
    firsts = [line.split()[0] for line in lines if line.split()]
    assert tuple(first for first in firsts if first in registry.names()) == registry.names()
    assert ("A wider terminal also shows" in " ".join(text.split())) == bool(dropped)
    assert rest == " hidden layers (128, 128). `dcrl tasks NAME` describes a task.\n"


def test_a_terminal_too_narrow_for_a_table_gets_a_line_per_value(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    text = printed(capsys, "tasks")
    assert "task: humanoid_omni\n" in text
    assert "steps: 1000\n" in text
    assert "parameters: 50,449\n" in text


def test_a_pipe_gets_a_table_of_a_fixed_width(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed(capsys, "tasks").splitlines()
    assert max(map(len, lines)) <= output.PIPE_WIDTH
    assert any(
        line.startswith(" ant_omni         ant            30        8    250   0.05 s      21,512 ") for line in lines
    )


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_algorithms_wrap(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = printed(capsys, "algorithms")
    table = text.partition("`dcrl train")[0]
    assert max(map(len, table.splitlines())) <= columns
    words = " ".join(table.split())
    for name, entry in algorithms.ALGORITHMS.items():
        assert name in words
        assert all(word in words for word in entry.summary.split())


def test_algorithms_as_json(capsys):
    found = json.loads(printed(capsys, "algorithms", "--json"))
    assert [row["name"] for row in found] == list(algorithms.ALGORITHMS)


def test_tasks_as_json_agrees_with_the_tasks(capsys):
    found = json.loads(printed(capsys, "tasks", "--json"))
    assert [row["name"] for row in found] == list(registry.names())
    for row in found:
        task = registry.get(row["name"])
        assert row == {
            "name": task.name,
            "robot": task.robot.__module__.removeprefix("dcrl.tasks."),
            "summary": task.summary,
            "observation_size": len(task.observations),
            "action_size": len(task.actions),
            "descriptor_size": task.descriptor.size,
            "descriptor_names": list(task.descriptor.names),
            "descriptor_low": list(task.descriptor.low),
            "descriptor_high": list(task.descriptor.high),
            "descriptor_unit": task.descriptor.unit,
            "horizon": task.horizon,
            "control_period": task.integration.period,
            "policy_parameters": policy_layers(len(task.observations), len(task.actions)).parameters,
            "observations": list(task.observations),
            "actions": list(task.actions),
        }


def test_one_task_is_described_with_its_observations_in_order(capsys):
    text = printed(capsys, "tasks", "point_omni")
    entries = text.partition("observations")[2].splitlines()[1:]
    assert [entry.split(maxsplit=1) for entry in map(str.strip, entries)] == [
        [str(number), label] for number, label in enumerate(point_omni.observations)
    ]
    assert "50 control steps of 0.1 s" in text
    assert "-3 to 3 m" in text
