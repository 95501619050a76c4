"""`dcrl explore` in a real browser: one server and one Chromium for all tests of this file."""

from __future__ import annotations

import dataclasses
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.cli.main import command
from dcrl.learners.conditioning import normalise
from dcrl.networks import policy_layers, specialise
from dcrl.runs import repertoire as repertoires
from dcrl.runs.files import read_tensors
from dcrl.runs.repertoire import Repertoire
from dcrl.tasks.ant import ant_uni
from dcrl.types import Evaluation, Floats
from generations import GA, ME
from test_cli import COMMAND, HEEDING_INTERRUPTS

sync_api = pytest.importorskip("playwright.sync_api", reason="the explorer's page needs playwright to be tested")
pytest.importorskip("nicegui", reason="the explorer is an optional extra")

from dcrl.explorer.export import export  # noqa: E402, needs NiceGUI
from dcrl.explorer.opened import open_runs  # noqa: E402
from dcrl.explorer.page import simulated  # noqa: E402

HIDDEN = (16, 16)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOFTWARE_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
PATIENCE = 60_000  # ms; a busy machine without a GPU compiles shaders for seconds
HOSTILE = '</script><img src=x onerror="window.hacked = 1">'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of the point; its actor is a random one, which saves training it."""
    output = tmp_path_factory.mktemp("explore")
    config = dataclasses.replace(ME, ga=dataclasses.replace(GA, iso_sigma=1.0))  # spreads over more cells
    trained = dcrl.train("point_omni", "me", evaluations=16 * 5, hyperparameters=config, hidden=HIDDEN, output=output)
    path = output / "point_omni" / "me" / "seed-0"
    _, about = read_tensors(path / "archive.safetensors")
    layers = trained.actor_layers
    parameters = np.random.default_rng(0).normal(0, 0.4, layers.parameters)
    repertoires.save_actor(path / "actor.safetensors", parameters, about | {"layers": layers.sizes})
    return path


@pytest.fixture(scope="module")
def found(run: Path) -> Repertoire:
    return dcrl.load(run)


@pytest.fixture(scope="module")
def others(run: Path, found: Repertoire) -> dict[str, Path]:
    """Further runs: one that changes, one whose names are an attack, one with four descriptor dimensions."""
    paths = {name: run.parent / f"{name}.safetensors" for name in ("changing", "hostile", "four")}
    repertoires.save(paths["changing"], found)
    space = dataclasses.replace(found.space, names=(HOSTILE, "y"), unit=HOSTILE)
    repertoires.save(paths["hostile"], dataclasses.replace(found, space=space))
    random, filled = np.random.default_rng(0), np.arange(12) < 8
    layers = policy_layers(ant_uni.observation_size, ant_uni.action_size, (4,))
    four = Repertoire(
        task="ant_uni",
        layers=layers,
        space=ant_uni.descriptor,
        centroids=random.random((12, 4), np.float32),
        occupied=filled,
        fitness=np.where(filled, np.arange(12), np.nan).astype(np.float32),
        descriptor=np.where(filled[:, None], random.random((12, 4)), np.nan).astype(np.float32),
        genotype=(filled[:, None] * random.normal(0, 0.3, (12, layers.parameters))).astype(np.float32),
    )
    repertoires.save(paths["four"], four)
    return paths


@pytest.fixture(scope="module")
def address(run: Path, others: dict[str, Path]) -> Iterator[str]:
    """The server, ended with Ctrl-C; nothing that any test did may have left a word on its stderr."""
    arguments = ["explore", run, *others.values(), "--port", "0", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=run.parent,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        match = re.search(r"at (http://127\.0\.0\.1:\d+/)", said)
        assert match, said or process.communicate()
        yield match[1]
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (0, "")
    assert not (run.parent / ".nicegui").exists()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: install Debian's chromium to test the explorer's page")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *SOFTWARE_WEBGL])
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`new_page(address)`: a tab with the map drawn. No error may reach its console, no request another machine."""
    errors, requests, contexts = [], [], []

    def make(url: str, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        page.wait_for_selector(".dcrl-cells path", state="attached")
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []
    assert requests
    assert [url for url in requests if not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:"))] == []


def click_at(page: Any, place: Floats) -> None:
    """Click on the map where a descriptor is."""
    where = page.evaluate(
        "place => { const p = new DOMPoint(...place).matrixTransform("
        "document.querySelector('.dcrl-cells').getScreenCTM()); return [p.x, p.y]; }",
        [float(value) for value in place[:2]],
    )
    page.mouse.click(*where)


def shown(page: Any, kind: str, what: str, seed: int, title: str = "") -> float:
    """A number beside the player, once it belongs to the motion of this seed."""
    page.wait_for_selector(f".dcrl-readout:has-text('seed {seed}'):has-text('{title}')")
    return float(page.get_attribute(f"[data-readout='{kind}.{what}']", "data-value"))


def assert_shows(page: Any, kind: str, played: Evaluation, seed: int, title: str = "") -> None:
    """Fitness and descriptor at the end are those of `dcrl.rollout`, to the last bit."""
    assert np.float32(shown(page, kind, "fitness.end", seed, title)) == played.fitness[0]
    reached = [shown(page, kind, f"descriptor.{i}.end", seed) for i in range(played.descriptor.shape[1])]
    np.testing.assert_array_equal(np.float32(reached), played.descriptor[0])


def choose_run(page: Any, number: int) -> None:
    page.get_by_role("combobox", name="run").click()
    page.locator(".q-menu .q-item").nth(number).click()


def test_a_clicked_elite_moves_and_earns_what_rollout_says(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address)
    cell = int(np.nanargmax(found.fitness))
    click_at(page, found.centroids[cell])
    for seed in (0, 1):
        played = dcrl.rollout("point_omni", found.genotype[[cell]], seed, hidden=HIDDEN)
        assert_shows(page, "elite", played, seed, f"cell {cell}")
        assert np.float32(shown(page, "elite", "fitness.promised", seed)) == found.fitness[cell]
        if seed == 0:
            page.get_by_role("button", name="re-roll").click()
    page.wait_for_function("Number(document.querySelector('.dcrl-player').dataset.time) > 5")  # it plays by itself
    page.locator(".dcrl-scrub").fill("0")
    page.wait_for_function("document.querySelector('.dcrl-player').dataset.time === '0.00'")
    start = page.locator(".dcrl-view canvas").screenshot()
    page.locator(".dcrl-scrub").fill("50")
    page.wait_for_selector(".dcrl-status:has-text('step 50 of 50, 5.00 s')")
    assert page.locator(".dcrl-view canvas").screenshot() != start
    assert shown(page, "elite", "fitness.now", 1) == pytest.approx(shown(page, "elite", "fitness.end", 1), rel=1e-6)
    page.mouse.move(0, 0)
    page.hover(f"[data-cell='{cell}']")
    assert f"cell {cell}" in page.locator(".dcrl-tip").inner_text()
    page.wait_for_selector(".dcrl-chart canvas")


def test_the_actor_goes_where_no_elite_is(address: str, new_page: Callable[..., Any], found: Repertoire) -> None:
    page = new_page(address)
    empty = found.centroids[np.flatnonzero(~found.occupied)[0]]
    click_at(page, empty)
    page.wait_for_selector(".dcrl-hint:has-text('is empty: no elite was found there.')")
    page.get_by_role("button", name="side by side").click()
    page.wait_for_selector(".dcrl-readout >> nth=1")
    target = [shown(page, "actor", f"descriptor.{i}.promised", 0) for i in (0, 1)]
    np.testing.assert_allclose(target, empty, atol=0.05)
    condition = normalise(found.space, np.asarray(target))[None]
    assert found.actor_parameters is not None
    actor = specialise(found.actor_layers, found.actor_parameters, condition)
    assert_shows(page, "actor", dcrl.rollout("point_omni", actor, 0, hidden=HIDDEN), 0)
    beside = found.genotype[found.nearest(target, 1)]
    assert_shows(page, "elite", dcrl.rollout("point_omni", beside, 0, hidden=HIDDEN), 0)


def test_the_keyboard_moves_between_cells_and_pauses(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    page = new_page(address, color_scheme="dark")
    assert page.evaluate("document.body.classList.contains('body--dark')")
    page.get_by_role("button", name="actor", exact=True).click()
    page.focus(".dcrl-map svg")
    places = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
        places.append(page.get_attribute(".dcrl-chosen", "d"))
    assert len(set(places)) == 3
    page.wait_for_selector(".dcrl-readout")
    page.keyboard.press(" ")
    before = page.get_attribute(".dcrl-player", "data-time")
    page.wait_for_timeout(200)
    assert page.get_attribute(".dcrl-player", "data-time") == before
    page.keyboard.press("+")
    zoomed = page.get_attribute(".dcrl-cells", "transform")
    page.keyboard.press("0")
    assert page.get_attribute(".dcrl-cells", "transform") != zoomed


def test_tabs_do_not_disturb_each_other_and_a_closed_one_does_no_harm(
    address: str, new_page: Callable[..., Any], found: Repertoire
) -> None:
    first, second = (int(cell) for cell in np.flatnonzero(found.occupied)[:2])
    one, other, closed = new_page(address), new_page(address), new_page(address)
    click_at(closed, found.centroids[first])
    closed.close()  # while the server simulates
    click_at(one, found.centroids[first])
    click_at(other, found.centroids[second])
    other.get_by_role("button", name="re-roll").click()
    for page, cell, seed in ((one, first, 0), (other, second, 1)):
        played = dcrl.rollout("point_omni", found.genotype[[cell]], seed, hidden=HIDDEN)
        assert_shows(page, "elite", played, seed, f"cell {cell}")


def test_the_page_follows_its_run(
    address: str, new_page: Callable[..., Any], found: Repertoire, others: dict[str, Path]
) -> None:
    page = new_page(address)
    choose_run(page, 1)
    about = page.locator(".dcrl-about").first
    count = int(found.occupied.sum())
    page.get_by_text(f"{count} of 64 cells filled").wait_for()
    kept = np.flatnonzero(found.occupied)[1:]
    fewer = np.isin(np.arange(64), kept)
    parts = {name: getattr(found, name) for name in ("fitness", "descriptor")}
    less = {name: np.where(fewer if v.ndim == 1 else fewer[:, None], v, np.nan) for name, v in parts.items()}
    whole = others["changing"].read_bytes()
    genotype = np.where(fewer[:, None], found.genotype, 0)
    repertoires.save(others["changing"], dataclasses.replace(found, occupied=fewer, genotype=genotype, **less))
    page.get_by_text(f"{count - 1} of 64 cells filled").wait_for()
    others["changing"].write_bytes(whole[:-100])
    page.get_by_text("showing what was there before").wait_for()
    assert str(count - 1) in about.inner_text()
    others["changing"].write_bytes(whole)
    page.get_by_text(f"{count} of 64 cells filled").wait_for()


def test_text_in_a_runs_files_is_only_text(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 2)
    page.wait_for_selector(".dcrl-title:has-text('onerror')")
    page.hover(".dcrl-ground", force=True)
    assert page.evaluate("[window.hacked, document.querySelectorAll('img').length]") == [None, 0]


def test_more_than_two_dimensions_have_axes_to_choose(address: str, new_page: Callable[..., Any]) -> None:
    page = new_page(address)
    choose_run(page, 3)
    page.wait_for_selector(".dcrl-cells.dots path >> nth=7", state="attached")
    assert page.get_by_text("this run has no actor").is_visible()
    before = page.get_attribute("[data-cell='7']", "d")
    page.select_option("[data-axis='1']", "3")
    assert page.get_attribute("[data-cell='7']", "d") != before
    assert "front right" in page.locator(".dcrl-title").last.text_content()
    x, y = re.findall(r"[\d.]+", page.get_attribute("[data-cell='7']", "d"))[:2]
    click_at(page, np.array([float(x), float(y)]))
    shown(page, "elite", "descriptor.3.end", 0, "cell 7")


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


def test_an_exported_file_plays_by_itself(
    new_page: Callable[..., Any],
    run: Path,
    found: Repertoire,
    others: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "page.html"
    assert command(["explore", str(run), "--export", str(file), "--cells", "3", "--seed", "2"]) == 0
    said = capsys.readouterr().out
    assert said == f"wrote {file}: {file.stat().st_size / 1e6:.1f} MB, the map and the motions of 3 elites\n"
    page = new_page(file.as_uri())
    recorded = [
        int(cell) for cell in page.evaluate("JSON.parse(document.getElementById('archive').textContent).recorded")
    ]
    assert len(recorded) == 3
    best = int(np.nanargmax(found.fitness))
    assert best in recorded
    for cell in (best, next(cell for cell in recorded if cell != best)):
        click_at(page, found.centroids[cell])
        played = dcrl.rollout("point_omni", found.genotype[[cell]], 2, hidden=HIDDEN)
        assert_shows(page, "elite", played, 2, f"cell {cell}")
    assert "Three.js Authors, MIT" in file.read_text()
    assert command(["explore", str(others["hostile"]), "--export", str(file), "--cells", "1", "--overwrite"]) == 0
    page = new_page(file.as_uri())
    page.wait_for_selector(".dcrl-readout")
    assert page.evaluate("[window.hacked, document.querySelectorAll('img').length]") == [None, 0]


def test_exported_elites_can_be_named_by_descriptor(
    run: Path, found: Repertoire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = found.descriptor[int(np.nanargmax(found.fitness))]
    file = tmp_path / "page.html"
    place = ",".join(map(str, wanted.tolist()))
    assert command(["explore", str(run), "--export", str(file), "--descriptor", place]) == 0
    assert "the motions of 1 elites" in capsys.readouterr().out
    assert f'"recorded":[{int(found.nearest(wanted, 1)[0])}]' in file.read_text()
    assert command(["explore", str(run), "--export", str(file)]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("{tmp}",), "there is no repertoire at"),
        (("{tmp}/damaged.safetensors",), "cannot read"),
        (("{run}", "--port", "{port}"), "--port 0 takes a free port"),
        (("{run}", "--port", "70000"), "cannot listen at 127.0.0.1 port 70000"),
        (("{run}", "--host", "no.such.host.invalid"), "--host is an address of this machine"),
        (("{run}", "--export", "{tmp}/page.html", "--cells", "0"), "at least 1, got 0"),
        (("{run}", "--export", "{tmp}/page.html", "--descriptor", "a,b"), "numbers with commas"),
        (("{own}",), "--trust-task"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: tuple[str, ...],
    expected: str,
    run: Path,
    found: Repertoire,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "damaged.safetensors").write_bytes((run / "archive.safetensors").read_bytes()[:5000])
    own = tmp_path / "own.safetensors"
    task = tmp_path / "task.py"
    task.write_text(f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n")
    repertoires.save(own, dataclasses.replace(found, task=f"{task}:task"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        known = {"tmp": tmp_path, "run": run, "own": own, "port": taken.getsockname()[1]}
        code = command(["explore", *(argument.format(**known) for argument in arguments), "--no-browser"])
    output, error = capsys.readouterr()
    assert (code, output, error.count("\n")) == (2, "", 1)
    assert expected in error
    assert not (tmp_path / "ran").exists()


def test_an_archive_that_changes_into_one_with_code_is_not_followed(found: Repertoire, tmp_path: Path) -> None:
    path, task, ran = tmp_path / "changing.safetensors", tmp_path / "task.py", tmp_path / "ran"
    task.write_text(f"from pathlib import Path\nPath({str(ran)!r}).touch()\n")
    repertoires.save(path, found)
    (opened,) = open_runs((path,), trust=False)
    before = opened.content.repertoire
    repertoires.save(path, dataclasses.replace(found, task=f"{task}:task"))
    opened.refresh()
    assert "--trust-task" in opened.content.trouble
    assert opened.content.repertoire is before
    assert not ran.exists()


def test_a_choice_that_was_superseded_is_not_simulated(found: Repertoire) -> None:
    cell = int(np.nanargmax(found.fitness))
    target = found.descriptor[cell].tolist()
    assert simulated(found, "elite", cell, target, 0, 1, lambda: False) is None
    assert simulated(found, "elite", cell, target, 0, 1, lambda: True) is not None


def test_texts_of_a_run_may_look_like_marks_of_the_page(found: Repertoire, tmp_path: Path) -> None:
    space = dataclasses.replace(found.space, unit="@MOTIONS@")
    cells = [int(np.nanargmax(found.fitness))]
    export(dataclasses.replace(found, space=space), tmp_path / "page.html", cells, 0)
    assert (tmp_path / "page.html").read_text().count("@MOTIONS@") >= 1
