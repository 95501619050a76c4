"""What the explorer's server refuses, and what it does not do."""

from __future__ import annotations

import dataclasses
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcrl.cli.main import command
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from support.browsing import save_damaged

pytest.importorskip("nicegui", reason="the explorer is an optional extra")

from dcrl.explorer.opened import open_runs
from dcrl.explorer.playing import Choice, simulated


def asked(address: str, *headers: str, path: str = "/") -> str:
    """The status line of a request with headers of one's own."""
    host, port = re.findall(r"//([\d.]+):(\d+)", address)[0]
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        lines = [f"GET {path} HTTP/1.1", *headers, "Connection: close" if path == "/" else "", "", ""]
        connection.sendall("\r\n".join(line for i, line in enumerate(lines) if line or i >= len(lines) - 2).encode())
        return connection.recv(200).decode("latin-1").splitlines()[0]


def test_only_the_page_itself_is_answered(address: str) -> None:
    here = address.removeprefix("http://").rstrip("/")
    port = here.rpartition(":")[2]
    assert " 200 " in asked(address, f"Host: {here}")
    assert " 200 " in asked(address, f"Host: localhost:{port}", f"Origin: http://localhost:{port}")
    assert " 403 " in asked(address, f"Host: evil.example:{port}")  # a name rebound to this machine
    assert " 403 " in asked(address, f"Host: 192.168.1.5:{port}")
    assert " 403 " in asked(address, f"Host: {here}", f"Host: evil.example:{port}")
    assert " 403 " in asked(address, f"Host: {here}", "Origin: https://evil.example")
    assert " 403 " in asked(address, f"Host: {here}", "Origin: null")
    assert " 403 " in asked(address, f"Host: {here}", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors")
    upgrade = (
        *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    ws = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert " 101 " in asked(address, f"Host: {here}", f"Origin: http://{here}", *upgrade, path=ws)
    assert " 403 " in asked(address, f"Host: {here}", "Origin: https://evil.example", *upgrade, path=ws)
    assert " 403 " in asked(
        address, f"Host: evil.example:{port}", f"Origin: http://evil.example:{port}", *upgrade, path=ws
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("{tmp}",), "there is no repertoire at"),
        (("{tmp}/damaged.safetensors",), "cannot read"),
        (("{run}", "--port", "{port}"), "--port 0 chooses a free one"),
        (("{run}", "--port", "70000"), "cannot listen on 127.0.0.1 port 70000"),
        (("{run}", "--host", "no.such.host.invalid"), "--host is an address of this machine"),
        (("{run}", "--export", "{tmp}/page.html", "--cells", "0"), "at least 1, got 0"),
        (("{run}", "--export", "{tmp}/page.html", "--descriptor", "a,b"), "comma-separated numbers"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: tuple[str, ...],
    expected: str,
    run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "damaged.safetensors").write_bytes((run / "archive.safetensors").read_bytes()[:5000])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        known = {"tmp": tmp_path, "run": run, "port": taken.getsockname()[1]}
        code = command(["explore", *(argument.format(**known) for argument in arguments), "--no-browser"])
    output, error = capsys.readouterr()
    assert (code, output, error.count("\n")) == (2, "", 1)
    assert expected in error


def test_an_archive_that_changes_into_one_with_code_is_not_followed(found: Repertoire, tmp_path: Path) -> None:
    path, task, ran = tmp_path / "changing.safetensors", tmp_path / "task.py", tmp_path / "ran"
    task.write_text(f"from pathlib import Path\nPath({str(ran)!r}).touch()\n")
    save(path, found)
    (opened,) = open_runs((path,), trust=False)
    before = opened.content.outline
    save(path, dataclasses.replace(found, task=f"{task}:task"))
    opened.refresh()
    assert "--trust-task" in opened.content.trouble
    assert opened.content.outline is before
    opened.verify()  # its policies can no longer be read; why, stays said
    assert "--trust-task" in opened.content.trouble
    assert not ran.exists()


def test_damage_that_the_map_does_not_show_is_said(found: Repertoire, tmp_path: Path) -> None:
    path = tmp_path / "damaged.safetensors"
    save_damaged(path, found)
    (opened,) = open_runs((path,), trust=False)
    with pytest.raises(ValueError, match="is damaged"):
        simulated(opened.content.whole, Choice(mode="elite", cell=0, target=[0.0, 0.0], seed=0), 1)
    assert opened.content.trouble == ""
    opened.verify()  # as the server does by itself
    assert "is damaged" in opened.content.trouble
    save(path, found)
    opened.refresh()
    opened.verify()
    assert opened.content.trouble == ""
    np.testing.assert_array_equal(opened.content.whole().genotype, found.genotype)


def test_damage_is_reported_without_loading_a_simulator(found: Repertoire, tmp_path: Path) -> None:
    """JAX and MuJoCo take seconds, on a busy machine a minute."""
    path = tmp_path / "damaged.safetensors"
    save_damaged(path, found)
    source = (
        "import sys; from pathlib import Path; from dcrl.explorer import opened, playing\n"
        "(run,) = opened.open_runs((Path(sys.argv[1]),), trust=False)\n"
        "choice = playing.Choice(mode='elite', cell=0, target=[0.0, 0.0], seed=0)\n"
        "try: playing.simulated(run.content.whole, choice, 1)\n"
        "except ValueError as error: print('is damaged' in str(error), *({'jax', 'mujoco'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", source, path], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_what_moves_is_what_is_on_the_map(found: Repertoire, tmp_path: Path) -> None:
    path = tmp_path / "changing.safetensors"
    save(path, found)
    (opened,) = open_runs((path,), trust=False)
    save(path, dataclasses.replace(found, fitness=found.fitness + 1))
    with pytest.raises(ValueError, match="is no longer what is on the map"):
        opened.content.whole()
    opened.refresh()
    np.testing.assert_array_equal(opened.content.whole().fitness, found.fitness + 1)
    before = opened.content.whole()
    path.unlink()
    assert opened.content.whole() is before  # read once, kept


def test_metrics_that_cannot_be_read_hold_up_nothing_else(run: Path, found: Repertoire, tmp_path: Path) -> None:
    path = Path(shutil.copytree(run, tmp_path / "run"))
    (opened,) = open_runs((path,), trust=False)
    good = (path / "metrics.csv").read_bytes()
    (path / "metrics.csv").write_bytes(b"\xff")
    save(path / "archive.safetensors", dataclasses.replace(found, fitness=found.fitness + 1))
    opened.refresh()
    assert (opened.content.trouble, "metrics.csv" in opened.content.metrics_trouble) == ("", True)
    np.testing.assert_array_equal(opened.content.outline.fitness, found.fitness + 1)
    (path / "metrics.csv").write_bytes(good)
    opened.refresh()
    assert opened.content.metrics_trouble == ""


def test_a_choice_that_was_superseded_is_not_simulated(found: Repertoire) -> None:
    cell = int(np.nanargmax(found.fitness))
    choice = Choice(mode="elite", cell=cell, target=found.descriptor[cell].tolist(), seed=0)
    assert simulated(lambda: found, choice, 1, lambda: False) is None
    assert simulated(lambda: found, choice, 1, lambda: True) is not None
    read: list[Repertoire] = []  # and so it is while the file is being read
    slow = lambda: read.append(found) or found
    assert simulated(slow, choice, 1, lambda: not read) is None


def test_a_map_is_shown_before_what_takes_long_is_loaded(run: Path) -> None:
    """JAX, MuJoCo and SciPy take seconds; the page opens without them, and without what only clients need."""
    source = (
        "import sys; from pathlib import Path; from dcrl.explorer import opened, sockets; "
        "(found,) = opened.open_runs((Path(sys.argv[1]),), trust=False); sockets.load(); import dcrl.explorer.server; "
        "late = {'jax', 'mujoco', 'sklearn', 'matplotlib', 'scipy', 'aiohttp', 'requests'} & sys.modules.keys(); "
        "import aiohttp, requests; print(len(found.content.map) > 1000, *late)"
    )
    done = subprocess.run([sys.executable, "-c", source, run], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
