"""The import order of the design, read from the sources: parts import downwards only, big packages in few places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dcrl

SOURCE = Path(dcrl.__file__).parent
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))

# From the top down. A part imports its own row and the rows below, and no two parts import each other.
ROWS = (
    ("cli",),
    ("api",),
    ("analysis", "deployment", "explorer"),
    ("check", "benchmark", "environments", "generation_speed", "motion"),
    ("runs",),
    ("training",),
    ("algorithms",),
    ("variation",),
    ("rollout", "learners"),
    ("tasks", "simulators", "archive", "replay", "networks"),
    ("types", "keys", "version", "devices"),
)
LEVEL = {part: len(ROWS) - row for row, parts in enumerate(ROWS) for part in parts}

# Which files may import a package; a folder stands for all that is in it.
ONLY_IN = {
    "mujoco": ("tasks", "simulators", "environments.py", "benchmark.py", "check"),
    "mujoco.mjx": ("simulators/mjx.py",),
    "matplotlib": ("analysis",),
    "onnx": ("deployment",),
    "onnxruntime": ("deployment",),
    "ray": ("runs",),
    "nicegui": ("explorer",),
    "fastapi": ("explorer",),
    "starlette": ("explorer",),
    "uvicorn": ("explorer",),
    "webbrowser": ("explorer",),
    "pickle": (),
    "cloudpickle": (),
    "marshal": (),
    "shelve": (),
}


def imported(file: Path) -> Iterator[str]:
    """The full names a file imports, wherever in it, `from a import b` as `a.b`."""
    for node in ast.walk(ast.parse((SOURCE / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively; write the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


PARTS = {part_of(file) for file in FILES} - {"__init__"}


def parts_imported(file: Path) -> set[str]:
    """The parts of dcrl that a file imports."""
    return {name.split(".")[1] for name in imported(file) if name.startswith("dcrl.")} & PARTS


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("file", [file for file in FILES if file != Path("__init__.py")], ids=str)
def test_a_part_imports_downwards_only(file: Path) -> None:
    part = part_of(file)
    assert part in LEVEL, f"{part} has no place in the import order; give it one in ROWS"
    above = {other for other in parts_imported(file) if LEVEL[other] > LEVEL[part]}
    assert not above, f"{file} imports {above}, above it in the import order"


def test_no_two_parts_import_each_other() -> None:
    parts: dict[str, set[str]] = {}
    for file in FILES:
        if file != Path("__init__.py"):
            parts.setdefault(part_of(file), set()).update(parts_imported(file) - {part_of(file)})
    TopologicalSorter(parts).prepare()  # raises CycleError


def test_nothing_imports_the_package_itself() -> None:
    """`import dcrl` or `from dcrl import Task` inside dcrl would hide which part is meant."""
    ours = ((file, name.split(".")) for file in FILES for name in imported(file) if within(name, "dcrl"))
    assert [str(file) for file, name in ours if len(name) < 2 or name[1] not in PARTS] == []


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_imported_only_where_it_belongs(package: str) -> None:
    allowed = tuple(Path(place) for place in ONLY_IN[package])
    elsewhere = [
        str(file)
        for file in FILES
        if any(within(name, package) for name in imported(file)) and not {file, *file.parents} & set(allowed)
    ]
    assert elsewhere == []


def test_no_source_reads_pickled_arrays() -> None:
    assert [str(file) for file in FILES if "allow_pickle=True" in (SOURCE / file).read_text()] == []


def test_no_source_runs_text_as_code() -> None:
    calls = [
        f"{file}: {node.func.id}"
        for file in FILES
        for node in ast.walk(ast.parse((SOURCE / file).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec")
    ]
    assert calls == []


def test_the_readers_of_imports_see_what_is_there() -> None:
    """Guards the tests above: a reader that finds nothing would let everything pass."""
    assert {"tasks", "networks", "rollout"} <= parts_imported(Path("benchmark.py"))
    assert "mujoco.mjx" in set(imported(Path("simulators/mjx.py")))
    assert "simulators" in parts_imported(Path("rollout.py"))
