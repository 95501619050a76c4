"""The import order of the design, read from the sources: parts import downwards only, big packages in few places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import dcrl

SOURCE, ROOT = Path(dcrl.__file__).parent, Path(__file__).parents[1]
TESTS = ROOT / "tests"
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))

# From the top down. A part imports its own row and the rows below, and no two parts import each other.
ROWS = (
    ("__main__",),
    ("cli",),
    ("explorer", "analysis"),
    ("environments", "rendering", "deployment", "check", "bench", "sweeps"),
    ("runs", "evaluation"),
    ("figures",),
    ("repertoires",),
    ("algorithms",),
    ("variation",),
    ("learners", "archive"),
    ("simulators",),
    ("tasks", "networks"),
    ("types", "keys", "version", "devices", "memory", "files", "hyperparameters", "user_code", "cluster"),
)
LEVEL = {part: len(ROWS) - row for row, parts in enumerate(ROWS) for part in parts}

# Which files may import a package; a folder stands for all that is in it.
ONLY_IN = {
    "mujoco": ("tasks/engine.py", "simulators/mjx.py", "rendering/camera.py"),
    "dcrl.tasks.engine": ("tasks", "simulators", "rendering", "bench", "check"),
    "mujoco.mjx": ("simulators/mjx.py",),
    "matplotlib": ("figures", "evaluation", "analysis", "rendering"),
    "PIL": ("rendering",),
    "imageio_ffmpeg": ("rendering",),
    "onnx": ("deployment",),
    "onnxruntime": ("deployment",),
    "ray": ("cluster/connection.py", "sweeps/ray.py", "simulators"),
    "nicegui": ("explorer",),
    "fastapi": ("explorer",),
    "starlette": ("explorer",),
    "uvicorn": ("explorer",),
    "webbrowser": ("explorer",),
    "tensorboard": ("runs/logs.py",),
    "wandb": ("runs/logs.py",),
    # what may run code when it loads a file
    **dict.fromkeys(("pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch", "yaml"), ()),
}
RUNS_CODE = ("eval", "exec", "compile", "__import__")  # as names; an attribute such as re.compile is another thing


@cache
def imported(file: Path) -> frozenset[str]:
    """The full names a file imports anywhere in it, `from a import b` as `a.b`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((SOURCE / file).read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively; write the full name"
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


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


def test_the_picture_in_the_documentation_shows_this_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    picture = page.split("```")[1].strip().splitlines()
    assert [set(row.split()) for row in picture] == [set(row) for row in ROWS]
    described = re.findall(r"^\| (`.*`) \|", page.partition("| package |")[2].partition("\n\n")[0], re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(described)) == [part for row in ROWS for part in row]


def test_few_modules_stand_outside_a_package() -> None:
    loose = [file.stem for file in FILES if len(file.parts) == 1 and not file.stem.startswith("__")]
    assert len(loose) <= 7, f"{loose}: give one of them a package"


def test_the_tests_of_a_package_are_in_a_folder_of_its_name() -> None:
    packages = {file.parts[0] for file in FILES if len(file.parts) > 1}
    folders = {test.relative_to(TESTS).parts[0] for test in TESTS.glob("*/**/test_*.py")}
    assert folders - {"documentation", "examples"} == packages


def test_no_test_file_is_imported() -> None:
    """What tests share is in `support`."""
    importing = re.compile(r"^\s*(?:from|import) (?:\w+\.)*test_\w+", re.MULTILINE)
    assert importing.search("from test_lock import owner")
    assert [str(file) for file in TESTS.rglob("*.py") if importing.search(file.read_text())] == []


@pytest.mark.parametrize(("folder", "most"), [("src", 250), ("tests", 300)])
def test_no_file_is_long(folder: str, most: int) -> None:
    """A longer file holds two ideas."""
    lengths = {str(file): len(file.read_text().splitlines()) for file in ROOT.glob(f"{folder}/**/*.py")}
    assert len(lengths) > 50
    assert {file: lines for file, lines in lengths.items() if lines > most} == {}


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


@pytest.mark.parametrize(
    "file", [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("examples/*.py")], ids=lambda file: file.name
)
def test_scripts_import_what_there_is(file: Path) -> None:
    """Nothing else would notice that a benchmark has been left behind."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and within(node.module, "dcrl"):
            module = import_module(node.module)
            names = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            assert [name for name in names if find_spec(f"{node.module}.{name}") is None] == []


def loads_code(source: str) -> Iterator[str]:
    """What in a source could run code that comes from a file: text as code, pickled arrays, loaders of pickles."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in RUNS_CODE:
            yield node.id
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            builtin = owner in ("builtins", "__builtins__") and node.attr in RUNS_CODE
            loader = owner in ("torch", "joblib", "pickle", "yaml") and node.attr.startswith(("load", "unsafe_load"))
            if builtin or loader or node.attr == "read_pickle":
                yield f"{owner}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield f"{node.arg}={ast.unparse(node.value)}"
        elif isinstance(node, ast.Constant) and node.value in ("eval", "exec", "__import__"):
            yield repr(node.value)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_no_source_loads_code_from_a_file(file: Path) -> None:
    assert list(loads_code((SOURCE / file).read_text())) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("eval('1')", ["eval"]),
        ("run = exec", ["exec"]),
        ("import builtins; builtins.exec('1')", ["builtins.exec"]),
        ("getattr(object, 'eval')", ["'eval'"]),
        ("__import__('os')", ["__import__"]),
        ("np.load(path, allow_pickle=True)", ["allow_pickle=True"]),
        ("np.load(path, allow_pickle=trust)", ["allow_pickle=trust"]),
        ("np.load(path, allow_pickle=False)", []),
        ("torch.load(path)", ["torch.load"]),
        ("joblib.load(path)", ["joblib.load"]),
        ("import re; re.compile('a'); json.loads('1')", []),
    ],
)
def test_the_reader_of_loaders_sees_them(source: str, found: list[str]) -> None:
    assert list(loads_code(source)) == found


def test_the_readers_of_imports_see_what_is_there() -> None:
    """Guards the tests above: a reader that finds nothing would let everything pass."""
    assert {"tasks", "networks", "simulators"} <= parts_imported(Path("bench/rollouts.py"))
    assert "mujoco.mjx" in imported(Path("simulators/mjx.py"))
    assert "tasks" in parts_imported(Path("simulators/rollouts.py"))
