"""A disk that is full or read-only, files that may not grow, for real: a sentence, the last good state, a way on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from support.kills import arguments
from support.kills import dcrl as installed

Remount = Callable[[str], None]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """Five generations of MAP-Elites: a checkpoint is 100 kB."""
    output = tmp_path_factory.mktemp("runs")
    assert command([*arguments("me", output, 96), "--quiet"]) == 0
    return output / "point_omni" / "me" / "seed-0"


@pytest.fixture
def disk(tmp_path) -> Iterator[tuple[Path, Remount]]:
    """A file system of 8 MiB in memory, and how to change its mode."""
    path = tmp_path / "disk"
    path.mkdir()

    def mount(options: str, *more: str) -> None:
        subprocess.run(["mount", *more, "-o", options, "tmpfs", str(path)], check=True, capture_output=True, text=True)

    try:
        mount("size=8m", "-t", "tmpfs")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NOT TESTED, mounting a file system is not permitted here: {error}")
    try:
        yield path, lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def contents(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def fill(path: Path, left: int) -> None:
    """A file that takes all the space there is, but for so many bytes."""
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(path, path.stat().st_size - left)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2
    assert done.stderr.startswith("dcrl: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.slow
@pytest.mark.data
def test_a_full_disk_and_a_read_only_one_keep_the_last_good_state(finished, disk, tmp_path):
    there, remount = disk
    kept, elsewhere = there / "run", tmp_path / "elsewhere"
    shutil.copytree(finished, kept)
    shutil.copytree(finished, elsewhere)
    before = contents(kept / "checkpoints")
    line = ("resume", str(kept), "--evaluations", "144", "--checkpoint-minutes", "0")

    fill(there / "others", left=61440)  # not enough for a checkpoint
    said = sentence(installed(*line))
    assert "cannot write" in said
    assert "No space left on device; the run stopped, and `" in said
    assert f"dcrl resume {kept}` continues it" in said
    assert contents(kept / "checkpoints") == before

    remount("ro")
    everything = contents(kept)
    assert "Read-only file system" in sentence(installed(*line))
    begun = installed(*arguments("me", there / "new", 96))
    assert "Read-only file system; choose another --output" in sentence(begun)
    assert contents(kept) == everything

    remount("rw")
    (there / "others").unlink()
    for run in (kept, elsewhere):
        done = installed("resume", str(run), *line[2:])
        assert (done.returncode, done.stderr) == (0, "")
        assert "resumes after generation 5 of 8" in done.stdout
    assert (kept / "archive.safetensors").read_bytes() == (elsewhere / "archive.safetensors").read_bytes()
    assert [path.name for path in kept.rglob(".*")] == [".lock"]


@pytest.mark.slow
@pytest.mark.data
def test_files_that_may_not_grow_keep_the_last_good_state(finished, tmp_path):
    """Files may not grow beyond 60 kB: a checkpoint does not fit."""
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    before = {file.name: file.read_bytes() for file in (run / "checkpoints").iterdir()}
    line = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)); "
    line += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    line += "from dcrl.cli.main import command; sys.exit(command(sys.argv[1:]))"
    resumed = ("resume", str(run), "--evaluations", "160", "--checkpoint-minutes", "0")
    done = subprocess.run(
        [sys.executable, "-c", line, *resumed], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert {name: (run / "checkpoints" / name).read_bytes() for name in before} == before
    again = installed(*resumed)
    assert again.returncode == 0, again.stderr


def test_what_a_killed_process_left_half_written_goes(finished, tmp_path, capsys):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    left = [run / ".metrics.csv.77", run / "checkpoints" / ".replay-000-001.safetensors.78"]
    mine = [run / ".notes.csv", run / ".notes.csv.old"]
    for path in (*left, *mine):
        path.write_text("half")
    assert command(["resume", str(run), "--evaluations", "112", "--quiet"]) == 0
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in mine)


def test_results_lost_after_the_last_checkpoint_are_written_again(finished, tmp_path, capsys):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    before = contents(run)
    for lose in (Path.unlink, lambda path: path.write_bytes(b"half")):
        lose(run / "archive.safetensors")
        assert command(["resume", str(run)]) == 0
        assert "is complete" in capsys.readouterr().out
        assert contents(run) == before


def generations(run: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in (run / "checkpoints").glob("generation-*.json"))


def test_checkpoints_come_every_so_many_generations_and_the_last_are_kept(tmp_path, capsys):
    line = [*arguments("me", tmp_path, 96), "--quiet"]
    line[line.index("--checkpoint-minutes") + 1] = "1e6"
    for wrong in ("--keep-checkpoints", "--checkpoint-generations"):
        with pytest.raises(SystemExit, match="2"):
            command([*line, wrong, "0"])
        assert f"{wrong[2:].replace('-', '_')} must be a whole number" in capsys.readouterr().err
    assert command([*line, "--checkpoint-generations", "2", "--keep-checkpoints", "3"]) == 0
    run = tmp_path / "point_omni" / "me" / "seed-0"
    assert generations(run) == [2, 4, 5]
    seen = []
    dcrl.resume(
        run,
        evaluations=160,
        checkpoint_minutes=1e6,
        checkpoint_generations=4,
        keep_checkpoints=1,
        on_report=lambda state, report: seen.append((report.generation, generations(run))),
    )
    assert seen == [(6, [2, 4, 5]), (7, [6]), (8, [6]), (9, [8])]
    assert generations(run) == [9]
