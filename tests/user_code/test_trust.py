"""What is remembered of a user's own code: the path and the content, in a directory of that user alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcrl.user_code import trust


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own.py"
    file.write_text("thing = 1\n")
    return file


def test_a_file_is_trusted_once_it_was_used(state: Path, own: Path) -> None:
    assert not trust.is_trusted(f"{own}:thing")
    trust.remember(f"{own}:thing")
    assert trust.is_trusted(f"{own}:thing")
    assert trust.is_trusted(f"{own}:another")  # the same code runs


def test_a_changed_file_is_no_longer_trusted_and_the_refusal_says_so(state: Path, own: Path) -> None:
    trust.remember(f"{own}:thing")
    own.write_text("thing = 2\n")
    with pytest.raises(ValueError, match=r"own\.py, which has changed since you last used it; .* add --trust-task"):
        trust.check(f"{own}:thing", "task", "a run", trust=False)
    trust.check(f"{own}:thing", "task", "a run", trust=True)
    trust.check(f"{own}:thing", "task", "a run", trust=False)


def test_the_same_content_elsewhere_is_not_trusted(state: Path, own: Path) -> None:
    """What it imports or reads may be something else there."""
    trust.remember(f"{own}:thing")
    copy = own.with_name("copy.py")
    copy.write_bytes(own.read_bytes())
    assert not trust.is_trusted(f"{copy}:thing")


def test_only_the_user_can_read_and_write_what_is_remembered(state: Path, own: Path) -> None:
    trust.remember(f"{own}:thing")
    (entry,) = (state / "trusted").iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(entry.read_text())["file"] == str(own)


@pytest.mark.parametrize("target", ["file", "directory"])
def test_what_others_could_have_written_is_ignored(state: Path, own: Path, target: str) -> None:
    trust.remember(f"{own}:thing")
    (entry,) = (state / "trusted").iterdir()
    (entry if target == "file" else entry.parent).chmod(0o777)
    assert not trust.is_trusted(f"{own}:thing")


def test_a_link_and_a_damaged_entry_are_ignored(state: Path, own: Path, tmp_path: Path) -> None:
    trust.remember(f"{own}:thing")
    (entry,) = (state / "trusted").iterdir()
    entry.rename(tmp_path / "elsewhere.json")
    entry.symlink_to(tmp_path / "elsewhere.json")
    assert not trust.is_trusted(f"{own}:thing")
    entry.unlink()
    entry.write_text("{")
    entry.chmod(0o600)
    assert not trust.is_trusted(f"{own}:thing")


def test_a_module_is_trusted_by_its_file_without_being_imported(state: Path, tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "their_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "robots.py").write_text("arm = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not trust.is_trusted("their_package.robots:arm")
    trust.remember("their_package.robots:arm")
    assert trust.is_trusted("their_package.robots:arm")
    assert not trust.is_trusted("their_package.others:arm")


@pytest.mark.parametrize("text", ["nowhere.py:task", "no_such_module:task", "\0.py:task", ":", "a b:c", "sys:path"])
def test_what_is_not_there_is_never_trusted(state: Path, text: str) -> None:
    trust.remember(text)
    assert not trust.is_trusted(text)


def test_without_a_state_directory_nothing_is_remembered(own: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DCRL_STATE", str(tmp_path / "file" / "state"))
    trust.remember(f"{own}:thing")
    assert not trust.is_trusted(f"{own}:thing")
