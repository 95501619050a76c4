"""Objects of files: the source is what runs, and a file is imported again once it has changed."""

from __future__ import annotations

import importlib.util
import os
import py_compile
from pathlib import Path

import pytest

from dcrl.user_code.importing import load


def test_compiled_code_beside_the_source_is_not_run(tmp_path: Path) -> None:
    """Who reads the source before trusting it must get what it says."""
    own, other = tmp_path / "own.py", tmp_path / "other.py"
    own.write_text("thing = 1\n")
    other.write_text("thing = 2\n")
    os.utime(other, ns=(own.stat().st_atime_ns, own.stat().st_mtime_ns))
    py_compile.compile(str(other), cfile=importlib.util.cache_from_source(str(own)), dfile=str(own))
    assert load(f"{own}:thing", "thing", (int,)) == 1


def test_a_changed_file_is_imported_again(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    for number in (1, 2):
        own.write_text(f"thing = {number}\n")
        os.utime(own, ns=(0, 0))
        assert load(f"{own}:thing", "thing", (int,)) == number


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(
            f"from pathlib import Path\nbeside = Path(__file__).parent.name\ndef thing(): return beside + {folder!r}\n"
        )
    found = [load(f"{tmp_path / folder}/own.py:thing", "thing", ()) for folder in ("a", "b")]
    assert [thing() for thing in found] == ["aa", "bb"]
    assert found[0].__module__ != found[1].__module__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one = 1\ntwo = 'x'\n", r"own\.py has no 'thing'; it defines one$"),
        ("two = 'x'\n", r"own\.py has no 'thing'; it defines no number$"),
        ("raise ValueError('a reason')\n", r"cannot import '.*own\.py' for number '.*own\.py:thing': a reason$"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "own.py").write_text(text)
    with pytest.raises(ValueError, match=expected):
        load(f"{tmp_path}/own.py:thing", "number", (int,))
