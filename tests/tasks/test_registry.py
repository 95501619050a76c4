"""Tasks by name, by module and by file; and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcrl
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni
from support.offering import offer

FILE = "from dcrl.tasks.point import point_omni as mine\nnumber = 3\n"


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_a_built_in_task_is_known_by_its_own_name(name: str) -> None:
    assert registry.get(name).name == name
    assert name in registry.names()


def test_a_task_itself_is_returned_as_it_is() -> None:
    assert registry.get(point_omni) is point_omni


def test_a_task_of_a_module_or_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FILE)
    assert registry.get("dcrl.tasks.point:point_omni") is point_omni
    assert registry.get(f"{tmp_path}/own.py:mine") is point_omni


def test_a_task_that_an_installed_package_offers_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, registry.GROUP, theirs="dcrl.tasks.point:point_omni")
    assert registry.names() == (*registry.BUILT_IN, "theirs")
    assert registry.get("theirs") is point_omni


def test_a_broken_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, registry.GROUP, theirs="no_such_package:task")
    with pytest.raises(ValueError, match=r"cannot load the installed task 'theirs': ModuleNotFoundError.*no_such"):
        registry.get("theirs")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ant_onmi", r"no task 'ant_onmi'; did you mean ant_omni\? Known tasks: ant_omni, .*point_omni; or give"),
        ("zzz", r"no task 'zzz'\. Known tasks: ant_omni"),
        ("no_such_module:task", r"cannot import 'no_such_module' for task 'no_such_module:task'"),
        ("dcrl.tasks.point:missing", r"dcrl.tasks.point has no 'missing'; it defines point_omni"),
        ("dcrl.tasks.point:REACH", r"must be a dcrl.Task or a dcrl.GymnasiumTask, got an object of type float"),
        ("nowhere/own.py:task", r"cannot read 'nowhere/own.py'"),
    ],
)
def test_what_is_no_task_is_a_sentence(name: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        registry.get(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def broken(:\n", r"cannot read .*own\.py.*invalid syntax"),
        ("1 / 0\n", r"cannot import .*own\.py.*: ZeroDivisionError: division by zero"),
        ("import no_such_package\n", r"cannot import .*own\.py.*no_such_package"),
        (FILE, r"has no 'task'; it defines mine"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_sentence(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "own.py").write_text(text)
    with pytest.raises(ValueError, match=expected):
        dcrl.rollout(f"{tmp_path}/own.py:task", [[0.0]])
