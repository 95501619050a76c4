"""How the program says it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcrl.cli.explore import again
from dcrl.cli.program import program
from dcrl.explorer.listening import listen


@pytest.mark.parametrize(
    ("called", "words"),
    [
        (".venv/bin/dcrl", ".venv/bin/dcrl"),
        ("my tools/dcrl", "'my tools/dcrl'"),
        ("dcrl", "dcrl"),
        ("/usr/lib/python3/dcrl/__main__.py", "python -m dcrl"),
        ("/usr/bin/pytest", "dcrl"),
    ],
)
def test_what_is_not_on_the_path_is_called_as_it_was(called: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [called])
    assert program() == words


def test_with_an_activated_environment_the_name_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "dcrl"
    installed.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(installed)])
    assert program() == "dcrl"


def test_the_page_says_a_command_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [".venv/bin/dcrl"])
    with listen("127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        said = again((Path("my run"),), opened, "127.0.0.1", task=None, trust=True)
    assert said == f".venv/bin/dcrl explore 'my run' --port {port} --trust-task"
