"""`dcrl explore RUN ...`: a web page on which a repertoire is explored."""

from __future__ import annotations

import gc
import shlex
import signal
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from dcrl import devices
from dcrl.archive.centroids import cache_directory
from dcrl.cli.descriptor import numbers
from dcrl.cli.program import program
from dcrl.repertoires.words import plural

if TYPE_CHECKING:
    from dcrl.explorer.opened import Opened

PORT = 8050
LOCAL = "127.0.0.1"


def run(
    paths: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN [RUN ...]")],
    /,
    *,
    port: int = PORT,
    host: str = LOCAL,
    no_browser: bool = False,
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_task: bool = False,
    export: Annotated[Path | None, tyro.conf.arg(metavar="FILE.html")] = None,
    cells: int = 30,
    descriptor: Annotated[tuple[str, ...], tyro.conf.arg(metavar="D1,D2,...")] = (),
    seed: int = 0,
    overwrite: bool = False,
) -> int:
    """Open a web page that shows a repertoire as a map and plays the policies you choose; Ctrl-C stops the server.

    Args:
        paths: run directories, such as runs/walker2d_uni/dcrl_me/seed-0, also of runs in progress, or repertoire files
        port: the port of the page; 0 chooses a free one
        host: the address to listen on; by default only this machine can open the page
        no_browser: only print the address, do not open a browser
        task: the new location of the run's own task, as file.py:object or module:object
        trust_task: run the code that a run names as its task; not needed for a file that you have used before
        export: write one run to a self-contained HTML file instead of serving a page
        cells: how many elites' motions go into the exported file, spread over the map
        descriptor: export the elites nearest to these descriptors instead, such as 0.4,0.7 0.1,0.9
        seed: the start state of the exported motions
        overwrite: replace the exported file if it is already there
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"cannot listen on {host} port {port}: a port is a number from 0 to 65535")
    if find_spec("nicegui") is None:
        raise ValueError("the explorer is an optional extra: pip install 'dcrl-map-elites[explore]'")
    from dcrl.explorer.listening import listen
    from dcrl.explorer.opened import open_runs

    devices.prepare(cache_directory())
    if export is not None:
        return _export(paths, export, cells, descriptor, seed, overwrite=overwrite, task=task, trust=trust_task)
    with listen(host, port) as opened:
        runs = open_runs(paths, trust=trust_task, task=task)
        try:
            _announce(paths, opened, host, browse=not no_browser)
            _serve(runs, opened, host, again(paths, opened, host, task=task, trust=trust_task))
        except KeyboardInterrupt:  # the way to end it
            print()
    return 0


def again(paths: tuple[Path, ...], opened: socket.socket, host: str, *, task: str | None, trust: bool) -> str:
    """The command that starts the same server at the same address."""
    words = ["explore", *map(str, paths), "--port", str(opened.getsockname()[1])]
    words += ["--host", host] * (host != LOCAL) + ["--trust-task"] * trust + ([] if task is None else ["--task", task])
    return f"{program()} {shlex.join(words)}"


def _serve(runs: list[Opened], opened: socket.socket, host: str, command: str) -> None:
    """Import the web packages, while the browser starts and waits, and serve the page with them."""
    from dcrl.explorer import sockets

    gc.disable()  # imports make no garbage, and looking for some takes a tenth of their time
    try:
        sockets.load()
        from dcrl.explorer import server
    finally:
        gc.freeze()  # what has been imported stays
        gc.enable()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on Ctrl-C is the way to end it, no error
    server.serve(runs, opened, host, command)


def _announce(paths: tuple[Path, ...], opened: socket.socket, host: str, *, browse: bool) -> None:
    from dcrl.explorer.guard import is_loopback
    from dcrl.explorer.listening import address, show_in_browser

    url = address(opened, host)
    print(f"exploring {', '.join(map(str, paths))} at {url} (Ctrl-C ends it)", flush=True)
    if not is_loopback(host):
        print(
            f"dcrl: the page is open to every machine that can reach {host}: whoever can may look at these "
            "runs and use this machine's processor; there is no password",
            file=sys.stderr,
            flush=True,
        )
    if browse:
        show_in_browser(url)


def _export(
    paths: tuple[Path, ...],
    file: Path,
    cells: int,
    descriptors: tuple[str, ...],
    seed: int,
    *,
    overwrite: bool,
    task: str | None,
    trust: bool,
) -> int:
    from dcrl.explorer.export import export, spread
    from dcrl.explorer.opened import open_runs
    from dcrl.explorer.values import cell_values
    from dcrl.files import free

    if len(paths) != 1:
        raise ValueError(f"an exported file shows one run, got {len(paths)}")
    free(file, overwrite=overwrite)
    opened = open_runs(paths, trust=trust, task=task)[0]
    found = opened.content.whole()
    wanted = [int(found.nearest(numbers(text), 1)[0]) for text in descriptors]
    chosen = sorted(set(wanted)) or spread(found, cells).tolist()
    size = export(found, file, chosen, seed, cell_values(opened.path, found))
    print(f"wrote {file}: {size / 1e6:.1f} MB, the map and the motions of {plural(len(chosen), 'elite')}")
    return 0
