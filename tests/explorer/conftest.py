"""Runs to explore, a server that shows them, and a real browser."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcrl
from dcrl.networks.policies import Layers, policy_layers
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.tasks.ant import ant_uni
from dcrl.types import Floats
from support.browsing import HIDDEN, HOSTILE, save_damaged, serving
from support.generations import GA, ME
from support.random_runs import give_actor

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOFTWARE_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
PATIENCE = 180_000  # ms; a busy machine without a GPU compiles shaders for seconds and renders videos for a minute


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of the point, with an actor made by hand that reaches its target."""
    output = tmp_path_factory.mktemp("explore")
    config = dataclasses.replace(ME, ga=dataclasses.replace(GA, iso_sigma=1.0))  # spreads over more cells
    trained = dcrl.train("point_omni", "me", evaluations=16 * 5, hyperparameters=config, hidden=HIDDEN, output=output)
    path = output / "point_omni" / "me" / "seed-0"
    give_actor(path, obedient(trained.actor_layers))
    return path


@pytest.fixture(scope="session")
def found(run: Path) -> Repertoire:
    return dcrl.load(run)


@pytest.fixture(scope="session")
def others(run: Path, found: Repertoire) -> dict[str, Path]:
    """Further runs: one that is replaced, one whose names are an attack, one with four descriptor dimensions, one that
    goes on training, and one whose policies are damaged.
    """
    names = ("replaced.safetensors", "hostile.safetensors", "four", "training", "damaged.safetensors")
    paths = {name: run.parent / name for name in names}
    save(paths["replaced.safetensors"], found)
    space = dataclasses.replace(found.space, names=(HOSTILE, "y"), unit=HOSTILE)
    save(paths["hostile.safetensors"], dataclasses.replace(found, space=space))
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
    paths["four"].mkdir()
    save(paths["four"] / "archive.safetensors", four)
    give_actor(paths["four"])
    shutil.copytree(run, paths["training"], ignore=shutil.ignore_patterns("actor.safetensors"))
    save_damaged(paths["damaged.safetensors"], found)
    return paths


def obedient(layers: Layers) -> Floats:
    """The point's actor as a spring with a damper: tanh(9 (target - place) - 3 velocity), places in units of 3 m."""
    parameters = np.zeros(layers.parameters, np.float32)
    (first, _), (second, _), (last, _) = layers.split(parameters)  # views
    for axis in (0, 1):
        for sign, unit in ((1, 2 * axis), (-1, 2 * axis + 1)):  # a ReLU for each sign
            first[[axis, 2 + axis, 5 + axis], unit] = np.array([-9, -3, 9]) * sign
            second[unit, unit] = 1
            last[unit, axis] = sign
    return parameters


@pytest.fixture(scope="session")
def address(run: Path, others: dict[str, Path]) -> Iterator[str]:
    """The server, ended with Ctrl-C; nothing that any test did may have left a word on its stderr."""
    with serving(run, *others.values()) as server:
        yield server.address


@pytest.fixture(scope="module")  # while it is open, no test can start an event loop of its own
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: install Debian's chromium to test the explorer's page")
    sync_api = pytest.importorskip("playwright.sync_api", reason="the explorer's page needs playwright to be tested")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *SOFTWARE_WEBGL])
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`new_page(address)`: a tab with the whole page. No error may reach its console, no request another machine."""
    errors, requests, contexts = [], [], []

    def make(url: str, *, wait: bool = True, server_ends: bool = False, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        silent = "ERR_CONNECTION_REFUSED" if server_ends else None  # the browser's own words, which no page can omit
        page.on(
            "console",
            lambda message: (
                message.type == "error" and (silent or "\0") not in message.text and errors.append(message.text)
            ),
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        if wait:
            page.wait_for_selector(".dcrl-cells path", state="attached")
            page.wait_for_selector(".dcrl-player")
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []
    assert requests
    assert [url for url in requests if not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:"))] == []
