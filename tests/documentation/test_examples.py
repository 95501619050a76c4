"""Every command and every code block of the README, of Get started and of the how-to guides runs as written.

In order, in a folder with a small trained run, and with small budgets (`support.shortened`). What needs another machine
or a new environment (ssh, pip) is not run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from dcrl.cli.main import command
from dcrl.rendering import camera
from support.commands import COMMAND, HEEDING_INTERRUPTS
from support.documented import Block, blocks, commands
from support.prepared import PREPARED, RUN
from support.shortened import shortened, shortened_python, small_functions

ROOT = Path(__file__).parents[2]
FAST = ("README.md", "docs/get-started.md")
SECTIONS = tomllib.loads((ROOT / "docs/navigation.toml").read_text(encoding="utf-8"))["section"]
GUIDES = [  # tests/test_notebooks.py executes the notebooks among them
    f"docs/{page}.md"
    for section in SECTIONS
    if section["caption"] == "How-to guides"
    for page in section["pages"]
    if not page.startswith("notebooks/")
]
SLOW = ["docs/coming-from.md", *GUIDES]
# Lines that are not run as they stand, and why
LEFT_OUT = {
    "source": "changes the shell",
    "ssh": "needs another machine",
    "tensorboard": "serves until it is stopped",
    "pip": "changes the environment; its extras are checked",
    "python3": "makes an environment",
    "make": "installs; its target is checked",
    "ray": "needs a cluster",
    "srun": "needs a cluster",
    "taskset": "pins a benchmark to a core",
    "MENAGERIE_ROOT=mujoco_menagerie": "needs a download; tests/examples/test_quadruped.py has a stand-in",
}
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"])
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a user's, with the repository's examples and two small runs."""
    folder = tmp_path_factory.mktemp("user")
    for name in ("examples", "benchmarks", "constraints.txt"):
        (folder / name).symlink_to(ROOT / name)
    here = Path.cwd()
    os.chdir(folder)
    try:
        assert command([*shortened(["train", "walker2d_uni"]), "--quiet"]) == 0
        assert command([*shortened(["train", "point_omni", "--algorithm", "me"]), "--quiet"]) == 0
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def play(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Block]]:
    """`play(page)` runs its blocks, in order, and returns those that it ran."""
    shutil.copytree(trained, tmp_path / "user", symlinks=True)
    monkeypatch.chdir(tmp_path / "user")
    monkeypatch.setenv("WANDB_MODE", "offline")
    small_functions(monkeypatch)

    def run(page: str) -> list[Block]:
        names = PREPARED.get(page, dict)()
        ran = [block for block in blocks((ROOT / page).read_text(encoding="utf-8")) if _runs(block)]
        for block in ran:
            shutil.rmtree("report", ignore_errors=True)  # of the block before, which shows another way
            try:
                if block.kind == "python":
                    exec(compile(shortened_python(block.source), f"{page}, line {block.line}", "exec"), names)
                else:
                    for words in commands(_filled(block.source)):
                        _run(words)
            except BaseException as error:
                error.add_note(f"{page}, the block at line {block.line}:\n{block.source}")
                raise
        return ran

    return run


def _filled(source: str) -> str:
    """The placeholders of an example as paths."""
    return re.sub(r"\bFOLDER\b", "mine", re.sub(r"\bRUN\b", str(RUN), source))


def _runs(block: Block) -> bool:
    """Text is not run, nor is code of a package that is not installed."""
    return block.kind != "text" and not block.source.startswith(("# QDax", "# pyribs[visualize]"))


def _run(words: list[str]) -> None:
    program, *rest = words[: words.index("|")] if "|" in words else words
    if program.endswith("dcrl") and rest[0] == "explore" and "--export" not in rest:
        _serve(rest)
    elif program.endswith("dcrl") and {"--backend", "--address"} & set(rest):  # needs a cluster
        assert _flags(rest) <= set(re.findall(r"--[a-z-]+", _help(rest[0]))), words
    elif program.endswith("dcrl") and "--help" in rest:  # ends its process
        subprocess.run([COMMAND, *rest], capture_output=True, timeout=120, check=True)
    elif program.endswith("dcrl"):
        if rest[0] != "render" or camera.available():
            assert command(shortened(rest)) == 0, words
    elif program == "python" and rest[0].startswith("benchmarks/"):
        said = subprocess.run(
            [sys.executable, rest[0], "--help"], capture_output=True, text=True, timeout=120, check=True
        )
        assert _flags(rest) <= set(re.findall(r"--[a-z-]+", said.stdout)), words
    elif program == "python":
        subprocess.run([sys.executable, *rest], check=True, timeout=900)
    else:
        assert program in LEFT_OUT, f"how should {words} be tested? Add it to LEFT_OUT with a reason, or run it"
        if program == "pip":
            assert set(re.findall(r"[\w]+(?=[\],])", "".join(re.findall(r"\[.*\]", " ".join(rest))))) <= EXTRAS, words
        if program == "make":
            assert rest[0] in TARGETS, words


def _flags(words: list[str]) -> set[str]:
    return {word for word in words if word.startswith("--")}


def _help(name: str) -> str:
    said = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, timeout=120, check=True)
    return said.stdout


def _serve(arguments: list[str]) -> None:
    """The page is served, and Ctrl-C ends it."""
    line = [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, *arguments, "--no-browser", "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode in (0, 130)  # 130 if it was still starting


@pytest.mark.parametrize("page", FAST)
def test_the_first_pages_run_as_written(play, page):
    kinds = [block.kind for block in play(page)]
    assert "python" in kinds
    assert "commands" in kinds


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # so few generations are no figure
@pytest.mark.parametrize("page", SLOW)
def test_the_guides_run_as_written(play, page):
    play(page)


def test_blocks_are_told_apart():
    page = """
```
dcrl train point_omni    # a comment
```

```python
x = 1
```

```text
output
```

    dcrl show RUN
    dcrl show RUN --json

and

    import dcrl

    dcrl.load("runs")

prints

    wrote walk.gif: 51 frames

- a list
    that is continued
"""
    found = [(block.line, block.kind) for block in blocks(page)]
    assert found == [(2, "commands"), (6, "python"), (10, "text"), (14, "commands"), (19, "python"), (25, "text")]


def test_the_guides_have_examples():
    kinds = {page: {b.kind for b in blocks((ROOT / page).read_text(encoding="utf-8"))} for page in (*FAST, *SLOW)}
    assert [page for page, found in kinds.items() if not found & {"python", "commands"}] == []
