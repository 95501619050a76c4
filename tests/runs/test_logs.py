"""TensorBoard and Weights & Biases, read back from what they wrote: the rows of `metrics.csv`, also when resumed."""

from __future__ import annotations

import csv
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dcrl.cli.main import command
from dcrl.runs import logs

COMMAND = str(Path(sys.executable).parent / "dcrl")
SMALL = ("--ga-offspring", "16", "--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16")
TRAIN = ("train", "point_omni", "--algorithm", "me", *SMALL, "--quiet")
BOTH = ("--log", "tensorboard", "wandb")


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[socket.socket]:
    """W&B offline; its server is a socket of the test, which would see anything that is sent."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        patch.setenv("WANDB_API_KEY", "0" * 40)
        yield server


@pytest.fixture(scope="module")
def run(tmp_path_factory, environment) -> Path:
    """Five generations, of which the last is lost with its checkpoint, then it and two more."""
    output = tmp_path_factory.mktemp("runs")
    path = output / "point_omni" / "me" / "seed-0"
    begun = (*TRAIN, "--evaluations", "96", "--output", str(output), "--checkpoint-minutes", "0", *BOTH)
    went_on = ("resume", str(path), "--evaluations", "128", "--quiet", *BOTH)
    for line in (begun, went_on):
        done = subprocess.run([COMMAND, *line], capture_output=True, text=True, timeout=300, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        (path / "checkpoints" / "generation-00000005.json").unlink(missing_ok=True)
    return path


def rows(run: Path) -> list[dict[str, float]]:
    with open(run / "metrics.csv", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


@pytest.mark.slow
def test_tensorboard_shows_the_metrics(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert len(list((run / "tensorboard").iterdir())) == 2
    shown = EventAccumulator(str(run / "tensorboard")).Reload()
    expected = rows(run)
    assert [row["generation"] for row in expected] == list(range(8))
    assert set(shown.Tags()["scalars"]) == set(expected[0])
    for name in expected[0]:
        found = [(event.step, event.value) for event in shown.Scalars(name)]
        assert found == [(row["evaluations"], np.float32(row[name])) for row in expected], name


def records(path: Path) -> Iterator[bytes]:
    """Of a W&B file: 7 bytes, then blocks of 32 KiB with pieces of records; 1 is a whole one, 4 the last piece."""
    content, place, record = path.read_bytes(), 7, b""
    while place + 7 <= len(content):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        _, size, kind = struct.unpack_from("<IHB", content, place)
        record += content[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):
            yield record
            record = b""


def history(path: Path) -> list[dict[str, float]]:
    from wandb.proto import wandb_internal_pb2

    parsed = [wandb_internal_pb2.Record.FromString(record) for record in records(path)]
    lines = [record.history for record in parsed if record.WhichOneof("record_type") == "history"]
    return [
        {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in line.item}
        | {"step": line.step.num}
        for line in lines
    ]


@pytest.mark.slow
def test_wandb_gets_the_metrics_as_one_run_and_offline_sends_nothing(run, environment):
    identity = json.loads((run / "wandb.json").read_text())["id"]
    first, second = (history(path) for path in sorted((run / "wandb").glob(f"offline-run-*/run-{identity}.wandb")))
    expected = rows(run)
    assert [line["generation"] for line in first] == [0, 1, 2, 3, 4, 5]
    assert [line["generation"] for line in second] == [5, 6, 7]
    for line, row in zip(first[:5] + second, expected, strict=True):
        assert {name: line[name] for name in row} == row
        assert line["step"] == row["evaluations"]
    with pytest.raises(BlockingIOError):
        environment.accept()


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_package_that_is_missing_is_named_before_anything_begins(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    assert command([*TRAIN, "--evaluations", "32", "--output", str(tmp_path), "--log", name]) == 2
    expected = f"logging to {name} needs a package that is not installed; pip install 'dcrl-map-elites[{name}]'"
    assert capsys.readouterr().err == f"dcrl: {expected}\n"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="metrics can be logged to tensorboard or wandb, got 'paper'"):
        logs.check(["paper"])


def test_a_log_that_fails_does_not_end_the_run(tmp_path, capsys):
    path = tmp_path / "point_omni" / "me" / "seed-0"
    path.mkdir(parents=True)
    (path / "tensorboard").write_text("in the way")
    assert command([*TRAIN, "--evaluations", "32", "--output", str(tmp_path), "--log", "tensorboard"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("dcrl: logging to tensorboard failed and stops here; the run continues: ")
    assert said.count("\n") == 1
    assert len(rows(path)) == 2


def test_a_log_that_fails_later_is_given_up(tmp_path):
    said: list[str] = []
    log = logs.start(["tensorboard"], tmp_path, {}, -1, said.append)
    log.write({"evaluations": 16})
    (file,) = (tmp_path / "tensorboard").iterdir()
    log._logs["tensorboard"].close()  # as if its file were gone
    log.write({"evaluations": 32})
    log.write({"evaluations": 48})
    log.close()
    assert len(said) == 1
    assert "closed file" in said[0]
    assert file.stat().st_size > 0
