"""A disk that is really full, and one that is really read-only: a sentence, the last good state, and a way on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dcrl
from dcrl.cli.main import command
from test_resume import arguments
from test_resume import dcrl as installed

Remount = Callable[[str], None]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("runs")
    assert command([*arguments("dcrl_me", output, 96), "--quiet"]) == 0
    return output / "point_omni" / "dcrl_me" / "seed-0"


@pytest.fixture
def disk(tmp_path) -> Iterator[tuple[Path, Remount]]:
    """A file system in memory, and how to change its size or its mode."""
    path = tmp_path / "disk"
    path.mkdir()

    def mount(options: str, *more: str) -> None:
        subprocess.run(["mount", *more, "-o", options, "tmpfs", str(path)], check=True, capture_output=True, text=True)

    try:
        mount("size=64m", "-t", "tmpfs")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NOT TESTED, mounting a file system is not permitted here: {error}")
    try:
        yield path, lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def contents(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def kilobytes(path: Path) -> int:
    return sum(-(-file.stat().st_size // 4096) * 4 for file in path.rglob("*")) + 4 * len(list(path.rglob("*")))


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2
    assert done.stderr.startswith("dcrl: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_full_disk_and_a_read_only_one_keep_the_last_good_state(finished, disk, tmp_path):
    there, remount = disk
    kept, elsewhere = there / "run", tmp_path / "elsewhere"
    shutil.copytree(finished, kept)
    shutil.copytree(finished, elsewhere)
    before = contents(kept / "checkpoints")
    line = ("resume", str(kept), "--evaluations", "144", "--checkpoint-minutes", "0")

    remount(f"size={kilobytes(kept) + 60}k")  # not enough for a checkpoint
    said = sentence(installed(*line))
    assert "cannot write" in said
    assert "No space left on device; the run stopped, and `dcrl resume" in said
    assert before.items() <= contents(kept / "checkpoints").items()  # a piece of the replay buffer may have fitted

    remount("ro")
    everything = contents(kept)
    assert "Read-only file system; the run stopped, and `dcrl resume" in sentence(installed(*line))
    begun = installed(*arguments("dcrl_me", there / "new", 96))
    assert "Read-only file system; choose another --output" in sentence(begun)
    assert contents(kept) == everything

    remount("rw,size=64m")
    for run in (kept, elsewhere):
        done = installed("resume", str(run), *line[2:])
        assert (done.returncode, done.stderr) == (0, "")
        assert "goes on after generation 5 of 8" in done.stdout
    for name in ("archive.safetensors", "actor.safetensors"):
        assert (kept / name).read_bytes() == (elsewhere / name).read_bytes()
    assert not list(kept.rglob(".*"))


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
    (run / "archive.safetensors").unlink()
    (run / "actor.safetensors").write_bytes(b"half")
    assert command(["resume", str(run)]) == 0
    assert "is complete" in capsys.readouterr().out
    assert contents(run) == before


def generations(run: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in (run / "checkpoints").glob("generation-*.json"))


def test_checkpoints_come_every_so_many_generations_and_the_last_are_kept(tmp_path, capsys):
    shared = ("--algorithm", "me", "--ga-offspring", "16", "--cells", "64", "--cvt-samples", "1000", "--quiet")
    line = ["train", "point_omni", *shared, "--evaluations", "96", "--output", str(tmp_path)]
    rarely = ("--checkpoint-minutes", "1e6", "--refresh-seconds", "1e9")
    for wrong in ("--keep-checkpoints", "--checkpoint-generations"):
        with pytest.raises(SystemExit, match="2"):
            command([*line, wrong, "0"])
        assert f"{wrong[2:].replace('-', '_')} must be at least 1, got 0" in capsys.readouterr().err
    assert command([*line, *rarely, "--checkpoint-generations", "2", "--keep-checkpoints", "3"]) == 0
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
