"""How fast `dcrl explore` opens and answers, and how much memory it takes, with a large synthetic run of the walker.

1,024 cells, all filled, with policies of 50,462 parameters (two hidden layers of 212), in a real browser:

    python benchmarks/explorer.py [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from dcrl.archive.centroids import centroids as cvt
from dcrl.networks.policies import policy_layers
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.tasks.walker2d import walker2d_uni

CELLS, HIDDEN = 1024, (212, 212)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]

# notes when the map and when all of the page have been painted, in ms of the clock: whoever asks from outside waits
# for more
WATCH = """
const waiting = { painted: ".dcrl-cells path", whole: ".dcrl-player" };
new MutationObserver(() => {
  for (const [moment, sign] of Object.entries(waiting)) {
    if (!document.querySelector(sign)) continue;
    delete waiting[moment];
    const note = () => (window[moment] = performance.timeOrigin + performance.now());
    requestAnimationFrame(() => requestAnimationFrame(note));
  }
}).observe(document, { childList: true, subtree: true });
"""


def synthetic(path: Path) -> None:
    """A filled archive of the walker standing still, which lives through all 1,000 steps of the episode if it can."""
    random = np.random.default_rng(0)
    layers = policy_layers(walker2d_uni.observation_size, walker2d_uni.action_size, HIDDEN)
    centroids = cvt(walker2d_uni.descriptor, CELLS, 10_000, 0)
    found = Repertoire(
        task=walker2d_uni.name,
        layers=layers,
        space=walker2d_uni.descriptor,
        centroids=centroids,
        occupied=np.ones(CELLS, bool),
        fitness=random.random(CELLS, np.float32),
        descriptor=centroids.astype(np.float32),
        genotype=random.normal(0, 0.02, (CELLS, layers.parameters)).astype(np.float32),
    )
    save(path, found)
    print(f"{CELLS:,} cells, {layers.parameters:,} parameters a policy, {path.stat().st_size / 1e6:.0f} MB")


def peak(process: int) -> float:
    """The most memory a process has had, in MiB."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(row for row in status if row.startswith("VmHWM")).split()[1]) / 1024


def processor_seconds(process: int) -> float:
    """What a process has computed so far, however busy the machine is."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def additions() -> float:
    """How fast the machine is at the moment: it may be shared."""
    began, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    return time.perf_counter() - began


def measure(path: Path, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})  # nothing in its cache
    context.add_init_script(WATCH)
    command = [Path(sys.executable).with_name("dcrl"), "explore", path, "--port", "0", "--no-browser"]
    began = time.time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = line[line.index("http") :].split()[0]
        told = time.time() - began
        page = context.new_page()
        page.goto(address, wait_until="commit")
        painted, whole = (
            page.wait_for_function(f"() => window.{moment}").json_value() / 1000 - began
            for moment in ("painted", "whole")
        )
        worked = processor_seconds(server.pid)
        page.wait_for_timeout(5000)  # whoever clicks has looked first
        seconds = []
        for cell in (100, 200, 300):
            place = page.locator(f"[data-cell='{cell}']").bounding_box()
            assert place is not None
            began = time.perf_counter()
            page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
            page.wait_for_selector(f".dcrl-readout:has-text('cell {cell}')")
            seconds.append(time.perf_counter() - began)
        opened = peak(server.pid)
        newer = path.with_name("newer")
        newer.write_bytes(path.read_bytes())
        newer.replace(path)  # as training does
        time.sleep(8)
        followed = peak(server.pid)
        server.send_signal(signal.SIGINT)
    context.close()
    print(
        f"command to address {told:.2f} s, to painted map {painted:.2f} s, to whole page {whole:.2f} s "
        f"({worked:.2f} s of a core; {additions():.2f} s for ten million additions in Python); "
        f"clicks answered in {', '.join(f'{s:.2f}' for s in seconds)} s, "
        f"peak memory {opened:.0f} MiB, and {followed:.0f} MiB when it reads a newer archive"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "archive.safetensors"
        synthetic(path)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        browser.new_page()  # it is open already, as people's browsers are
        for _ in range(repeats):
            measure(path, browser)
        browser.close()


if __name__ == "__main__":
    main()
